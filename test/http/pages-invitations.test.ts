import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { fresh } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import type { Idctl } from '../support/idctl.ts';
import { openIdctl } from '../support/idctl.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type Opened, open } from '../support/pages.ts';
import { team } from '../support/team.ts';

// The pages on which admins invite people, and see and revoke invitations.

const optionsOf = ({ body }: Opened) =>
  [...String(body).matchAll(/<option value="(\w+)"( selected)?/g)].map(
    ([, role, chosen]) => `${role}${chosen ?? ''}`,
  );
const typedIn = ({ body }: Opened) => /<textarea [^>]*>\n([^<]*)</.exec(String(body))?.[1];
const waiting = async (client: Client, slug: string): Promise<string[]> =>
  (await client.get(`/api/v1/orgs/${slug}/invitations`)).body.items.map(
    ({ email, role }: { email: string; role: string }) => `${email} ${role}`,
  );

describe('inviting in the browser', () => {
  let idctl: Idctl;
  beforeAll(async () => {
    idctl = await openIdctl({ limits: { enabled: 'off' } });
  });
  afterAll(() => idctl.close());

  test('X10 only admins and owners open these pages, with the roles that they may give', async () => {
    const { org, clients } = await team(idctl);
    for (const path of ['people/invite', 'invitations'].map(
      (part) => `/orgs/${org.slug}/${part}`,
    )) {
      expect([path, (await open(clients.member, path)).status]).toEqual([path, 403]);
      expect([path, (await open(clients.stranger, path)).status]).toEqual([path, 404]);
      expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(path);
      expect((await open(clients.admin, `/orgs/${org.slug}/people`)).body).toContain(path);
    }
    const path = `/orgs/${org.slug}/people/invite`;
    expect(optionsOf(await open(clients.admin, path))).toEqual(['member selected', 'admin']);
    const asked = await open(clients.owner, `${path}?role=owner`);
    expect(optionsOf(asked)).toEqual(['member', 'admin', 'owner selected']);
  });

  test('invites each address of a list, and shows the link once if no mail is sent', async () => {
    const { org, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const emails = 'bo@new.test, CY@new.test;\r\n\r\nDee Day <dee@new.test>\r\nbo@new.test';
    const done = await (await open(clients.admin, path)).submit(path, { emails, role: 'admin' });
    expect(done.status).toBe(200);
    expect(done.text).toContain('This service does not send mail. Give the person this link.');
    const links = [...String(done.body).matchAll(/\/login\?invitation=[\w-]+/g)].map(
      ([url]) => url,
    );
    expect(new Set(links).size).toBe(3);
    expect(await waiting(clients.owner, org.slug)).toEqual([
      'bo@new.test admin',
      'cy@new.test admin',
      'dee@new.test admin',
    ]);
    const invited = await open(idctl.client({ keepCookies: true }), links[0] ?? '');
    expect([invited.status, invited.text]).toEqual([200, expect.stringContaining('bo@new.test')]);
    const list = await open(clients.admin, `/orgs/${org.slug}/invitations`);
    expect(list.text).toContain('dee@new.test');
    expect(list.body).not.toContain('invitation=');
  });

  test('X10 names each refused address with its reason, keeps it in the form, and invites the others', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const emails = `<script>alert(1)</script>\nbo@new.test\n${people.member.email}`;
    const done = await (await open(clients.admin, path)).submit(path, { emails, role: 'member' });
    expect(done.status).toBe(200);
    expect(done.text).toContain('alert(1)&lt;/script&gt; must be an e-mail address');
    expect(done.text).toContain(`${people.member.email} is already a member of ${org.slug}.`);
    expect(done.body).not.toContain('<script>');
    expect(typedIn(done)?.split('\n').at(-1)).toBe(people.member.email);
    expect(await waiting(clients.admin, org.slug)).toEqual(['bo@new.test member']);
  });

  test('the reason of each address names it, once, also if it is short or in upper case', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const page = await open(clients.admin, path);
    const short = await page.submit(path, { emails: 'a e', role: 'member' });
    for (const typed of ['a', 'e'])
      expect(short.text).toContain(`Addresses: ${typed} must be an e-mail address`);
    const upper = people.member.email.toUpperCase();
    const known = await page.submit(path, { emails: upper, role: 'member' });
    expect(known.text).toContain(`Addresses: ${people.member.email} is already a member`);
  });

  test('a name in quotes may contain a comma, as mail programs write it', async () => {
    const { org, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const page = await open(clients.admin, path);
    const emails = '"Byron, Ada" <ada@new.test>; "Cole; Ben"<ben@new.test>, Cy Dunn <cy@new.test>';
    const done = await page.submit(path, { emails, role: 'member' });
    expect(done.text).not.toContain('must be an e-mail address');
    expect((await waiting(clients.admin, org.slug)).toSorted()).toEqual([
      'ada@new.test member',
      'ben@new.test member',
      'cy@new.test member',
    ]);
  });

  test('X10 a refused form keeps what was typed, and marks the field', async () => {
    const { org, people, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const page = await open(clients.admin, path);
    const wrong = await page.submit(path, { emails: 'nonsense', role: 'admin' });
    expect([wrong.status, typedIn(wrong)]).toEqual([400, 'nonsense']);
    expect(wrong.text).toContain('Addresses: nonsense must be an e-mail address');
    expect(wrong.body).toMatch(
      /<textarea [^>]*aria-describedby="emails-note refused" aria-invalid="true"/,
    );
    expect(optionsOf(wrong)).toEqual(['member', 'admin selected']);
    const known = await page.submit(path, { emails: people.owner.email, role: 'member' });
    expect([known.status, typedIn(known)]).toEqual([409, people.owner.email]);
    expect(known.body).toContain(`<a href="/orgs/${org.slug}/people">`);
    expect((await page.submit(path, { emails: '', role: 'member' })).text).toContain(
      'at least one',
    );
    const many = Array.from({ length: 51 }, (_, at) => `p${at}@new.test`).join('\n');
    expect((await page.submit(path, { emails: many, role: 'member' })).text).toContain(
      'at most 50',
    );
    const above = await page.submit(path, { emails: 'bo@new.test', role: 'owner' });
    expect([above.status, typedIn(above)]).toEqual([403, 'bo@new.test']);
    expect(await waiting(clients.admin, org.slug)).toEqual([]);
  });

  test('X10 a page asks before an invitation is revoked; a wrong id is not found', async () => {
    const { org, clients } = await team(idctl);
    const at = { org: org.slug, email: 'bo@new.test', role: 'member' } as const;
    const { id } = await createInvitation(idctl.operator(), at);
    const path = `/orgs/${org.slug}/invitations`;
    const list = await open(clients.admin, path);
    expect(list.body).toContain(`href="${path}/${id}/revoke"`);
    const asks = await open(clients.admin, `${path}/${id}/revoke`);
    expect(asks.text).toContain('Revoke the invitation of bo@new.test?');
    expect(await waiting(clients.admin, org.slug)).toHaveLength(1);
    const done = await asks.submit(`${path}/${id}/revoke`);
    expect(done.text).toContain('The invitation was revoked.');
    expect(done.text).toContain('No invitation is waiting for an answer.');
    for (const key of [id, 'x', '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d'])
      expect((await open(clients.admin, `${path}/${key}/revoke`)).status).toBe(404);
    const other = await team(idctl);
    const theirs = await createInvitation(idctl.operator(), { ...at, org: other.org.slug });
    expect((await open(clients.admin, `${path}/${theirs.id}/revoke`)).status).toBe(404);
    expect(await waiting(other.clients.admin, other.org.slug)).toHaveLength(1);
  });

  test('an invitation is sent again, and the earlier link ends', async () => {
    const { org, clients } = await team(idctl);
    const at = { org: org.slug, email: 'bo@new.test', role: 'admin' } as const;
    const { token } = await createInvitation(idctl.operator(), at);
    const list = await open(clients.admin, `/orgs/${org.slug}/invitations`);
    const done = await list.submit(`/orgs/${org.slug}/people/invite`);
    expect(done.text).toContain('The earlier invitation is invalid now.');
    expect(await waiting(clients.admin, org.slug)).toEqual(['bo@new.test admin']);
    const earlier = await open(idctl.client(), `/login?invitation=${token}`);
    expect(earlier.text).toContain('invalid or has expired');
  });
});

describe('inviting with mail', () => {
  let idctl: MailingIdctl;
  beforeAll(async () => {
    idctl = await openMailingIdctl();
  });
  afterAll(() => idctl.close());

  test('O6 says that a mail is on its way, does not show its link, and names a limit', async () => {
    const { org, clients } = await team(idctl);
    const path = `/orgs/${org.slug}/people/invite`;
    const email = `${fresh('bo')}@new.test`;
    const invite = async (emails = email) =>
      (await open(clients.admin, path)).submit(path, { emails, role: 'member' });
    const done = await invite();
    expect(done.text).toContain('A mail with a link is on its way.');
    expect(done.body).not.toContain('invitation=');
    await invite();
    const third = await invite();
    expect(third.text).toContain('This address got two mails within a day');
    expect(third.body).toContain('/login?invitation=');
    const many = Array.from({ length: 49 }, (_, at) => `${fresh('p')}${at}@new.test`).join('\n');
    const limited = await invite(many);
    expect(limited.text).toContain('has invited 50 people within a day');
    expect(typedIn(limited)?.split('\n')).toHaveLength(2);
  });
});
