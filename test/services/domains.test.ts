import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalDomain } from '../../src/services/foundation/domain-names/canonical.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import {
  addDomain,
  assertDomain,
  overrideDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { type Bind, startBind } from '../support/bind.ts';
import { fresh, organization, signedIn, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

describe.skipIf(counterpartMissing('bind9'))(
  'verified domains against BIND over DNS-over-HTTPS',
  () => {
    let bind: Bind;
    let idctl: Idctl;
    beforeAll(async () => {
      bind = await startBind('zone.test');
      idctl = await openIdctl({ doh: { resolverUrl: bind.resolverUrl, caFile: bind.caFile } });
    });
    afterAll(async () => {
      await idctl.close();
      await bind.stop();
    });

    const name = () => `${fresh('d')}.zone.test`;

    async function admin() {
      const org = await organization(idctl);
      return {
        org,
        client: await signedIn(idctl, org.owner.email),
        base: `/api/v1/orgs/${org.slug}/domains`,
      };
    }

    test('§3.1 add answers 201 with a Pending domain and its TXT record', async () => {
      const { client, base } = await admin();
      const domain = name();
      const answer = await client.post(base, { domain: `https://${domain.toUpperCase()}/` });
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        domain,
        state: 'Pending',
        txtRecord: {
          name: '@',
          type: 'TXT',
          value: expect.stringMatching(/^svc-verify=[A-Za-z0-9_-]{22}$/),
        },
        verifiedAt: null,
        verifiedBy: null,
      });
    });

    test('§3.1 verify finds the record among others, and stores when and how the domain was verified', async () => {
      const { client, base } = await admin();
      const domain = name();
      const { value } = (await client.post(base, { domain })).body.txtRecord;
      await bind.publishTxt(domain, 'v=spf1 -all');
      await bind.publishTxt(domain, value);
      const answer = await client.post(`${base}/${domain}/verify`);
      expect(answer).toMatchObject({ status: 200, body: { state: 'Verified', verifiedBy: 'dns' } });
      expect(Date.parse(answer.body.verifiedAt)).toBeGreaterThan(Date.now() - 60_000);
      expect((await client.post(`${base}/${domain}/verify`)).body).toEqual(answer.body);
    });

    test('§3.1 verify keeps the domain Pending if the TXT record is missing, and says what to do', async () => {
      const { client, base } = await admin();
      const domain = name();
      const { value } = (await client.post(base, { domain })).body.txtRecord;
      const missing = await client.post(`${base}/${domain}/verify`);
      expect(missing).toMatchObject({
        status: 409,
        body: { code: 'domain_not_verified', found: { rcode: 'NXDOMAIN', records: 0, proofs: [] } },
      });
      expect(missing.body.hint).toContain(value);
      expect(missing.body.hint).toContain('DNS propagation');
      expect((await client.get(base)).body.items).toMatchObject([{ domain, state: 'Pending' }]);
    });

    test('D3 a longer value, an old token, or a value at a CNAME target or a parent domain is no proof', async () => {
      const { client, base } = await admin();
      const [longer, old, alias, target] = [name(), name(), name(), name()];
      const values = new Map<string, string>();
      for (const domain of [longer, old, alias, `sub.${target}`]) {
        values.set(domain, (await client.post(base, { domain })).body.txtRecord.value);
      }
      await bind.publishTxt(longer, `${values.get(longer)} `);
      await bind.publishTxt(old, 'svc-verify=AAAAAAAAAAAAAAAAAAAAAA');
      await bind.publishCname(alias, target);
      await bind.publishTxt(target, values.get(alias) ?? '');
      await bind.publishTxt(target, values.get(`sub.${target}`) ?? '');
      for (const domain of values.keys()) {
        const answer = await client.post(`${base}/${domain}/verify`);
        expect(answer, domain).toMatchObject({
          status: 409,
          body: { code: 'domain_not_verified' },
        });
      }
    });

    test('D3 a value split into several strings of one record is one value', async () => {
      const { client, base } = await admin();
      const domain = name();
      const { value } = (await client.post(base, { domain })).body.txtRecord;
      await bind.publishTxt(domain, value.slice(0, 10), value.slice(10));
      expect((await client.post(`${base}/${domain}/verify`)).status).toBe(200);
    });

    test('D4 if two organizations verify one domain at once, exactly one succeeds and the other gets 409', async () => {
      const [one, two] = [await admin(), await admin()];
      const domain = name();
      for (const { client, base } of [one, two]) {
        await bind.publishTxt(domain, (await client.post(base, { domain })).body.txtRecord.value);
      }
      const answers = await Promise.all(
        [one, two].map(({ client, base }) => client.post(`${base}/${domain}/verify`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.code).toBe('domain_taken');
    });

    test('§3.1 a removed domain is free for another organization; a new claim has a new token', async () => {
      const [one, two] = [await admin(), await admin()];
      const domain = name();
      const first = (await one.client.post(one.base, { domain })).body.txtRecord.value;
      await bind.publishTxt(domain, first);
      await one.client.post(`${one.base}/${domain}/verify`);
      expect((await one.client.send('DELETE', `${one.base}/${domain}`)).status).toBe(204);
      expect((await one.client.get(one.base)).body.items).toEqual([]);
      expect((await one.client.post(one.base, { domain })).body.txtRecord.value).not.toBe(first);
      await bind.publishTxt(
        domain,
        (await two.client.post(two.base, { domain })).body.txtRecord.value,
      );
      expect((await two.client.post(`${two.base}/${domain}/verify`)).status).toBe(200);
    });

    test('adding a domain again is refused with 409, and an unknown domain with 404', async () => {
      const { client, base } = await admin();
      const domain = name();
      await client.post(base, { domain });
      expect(await client.post(base, { domain })).toMatchObject({
        status: 409,
        body: { code: 'already_exists' },
      });
      expect((await client.post(`${base}/other.test/verify`)).status).toBe(404);
      expect((await client.send('DELETE', `${base}/other.test`)).status).toBe(404);
    });

    test.each(['co.uk', 'github.io', 'gmail.com', 'https://GMX.de/', 'ada@outlook.com'])(
      'D2 %s is refused as a shared domain, unless the operator overrides this',
      async (text) => {
        const { org, client, base } = await admin();
        const refused = await client.post(base, { domain: text });
        expect(refused).toMatchObject({ status: 409, body: { code: 'domain_shared' } });
        expect((await client.get(base)).body.items).toEqual([]);
        expect(
          await overrideDomain(idctl.operator(), {
            org: org.slug,
            domain: canonicalDomain(text) ?? '',
          }),
        ).toMatchObject({ state: 'Pending' });
      },
    );

    test('D7 a verified domain does not cover its subdomain', async () => {
      const { org } = await admin();
      const domain = await verifiedDomain(idctl, org.slug);
      const other = await organization(idctl);
      const sub = await verifiedDomain(idctl, other.slug, `sub.${domain}`);
      expect(sub).toBe(`sub.${domain}`);
    });

    test('I2 the operator can verify a domain without DNS, and this is recorded; an admin cannot', async () => {
      const { org, client, base } = await admin();
      const domain = name();
      await addDomain(idctl.operator(), { org: org.slug, domain });
      const refused = await client.post(`${base}/${domain}/verify`, { assert: true });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'assert' }] } });
      const asserted = await assertDomain(idctl.operator(), { org: org.slug, domain });
      expect(asserted).toMatchObject({ state: 'Verified', verifiedBy: 'operator' });
    });

    test('X5 adding, verifying and removing a domain write events with the actor', async () => {
      const { org, client, base } = await admin();
      const domain = name();
      await client.post(base, { domain });
      await assertDomain(idctl.operator(), { org: org.slug, domain });
      await removeDomain(idctl.operator(), { org: org.slug, domain });
      const { items } = await listEvents(idctl.operator(), { org: org.slug, limit: 50 });
      const seen = items
        .filter(({ kind }) => kind.startsWith('domain.'))
        .map(({ kind, actor }) => [kind, actor.kind]);
      expect(seen).toEqual([
        ['domain.added', 'user'],
        ['domain.verified', 'operator'],
        ['domain.removed', 'operator'],
      ]);
    });
  },
);
