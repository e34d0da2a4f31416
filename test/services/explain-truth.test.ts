import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { signedIn } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Case, cases, obstacles, type Staged, stage } from '../support/explain-cases.ts';
import { openSite, type Site, signInBy } from '../support/explain-site.ts';
import { long } from '../support/scim.ts';

// Compares `explain` with real sign-ins of generated people in generated organizations.

describe.skipIf(counterpartMissing('slapd'))('explain tells the truth', () => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());

  /** Returns, for each way, what `explain` tells the operator and what a real sign-in then does. */
  async function compare(person: Staged, order: Case['order']) {
    const told: Record<string, unknown> = {};
    const seen: Record<string, unknown> = {};
    const { idctl } = site;
    for (const method of order) {
      // A code of the second factor is accepted only once, so wait for the next code.
      idctl.wait(60);
      const input = { org: person.org.slug, user: person.email };
      const { ways } = await explain(idctl.operator(), input);
      const way = ways.find((each) => each.method === method);
      const answer = await signInBy[method]?.(site, person);
      const code = answer?.status === 200 ? 'in' : `${answer?.status} ${answer?.body.code}`;
      told[method] = [way?.could, code, way?.rule];
      seen[method] = [answer?.status === 200, code, way?.rule];
    }
    return { told, seen };
  }

  test('a sign-in by each way succeeds exactly if explain says so', async () => {
    const property = fc.asyncProperty(cases, async (given) => {
      const person = await stage(site, given);
      const { told, seen } = await compare(person, given.order);
      expect(told).toEqual(seen);
    });
    // A failure prints the seed. The long run uses a new seed each time.
    const more = long ? { numRuns: 100 } : { numRuns: obstacles.length + 4, seed: 20261122 };
    await fc.assert(property, { ...more, examples: obstacles.map((each) => [each]) });
  }, 1_800_000);

  test('O8 explain shows an admin no more about a member than it shows the operator, and nothing about other people', async () => {
    const property = fc.asyncProperty(cases, async (given) => {
      const { org, domain, email } = await stage(site, given);
      const { idctl } = site;
      site.set({ ...given.instance, mail: true });
      const admin = await signedIn(idctl, org.owner.email);
      site.set(given.instance);
      const path = `/api/v1/orgs/${org.slug}/explain?user=`;
      const { status, body } = await admin.get(path + encodeURIComponent(email));
      expect(status).toBe(200);
      if (given.place === 'none' || given.account === null) {
        const unknown = `bob@${domain}`;
        const other = await admin.get(path + encodeURIComponent(unknown));
        expect(JSON.stringify(body)).toBe(JSON.stringify(other.body).replaceAll(unknown, email));
        expect(body.ways.filter(({ could }: { could: unknown }) => could === true)).toEqual([]);
        return;
      }
      const { ways } = await explain(idctl.operator(), { org: org.slug, user: email });
      for (const [at, way] of ways.entries()) {
        const asked = body.ways[at];
        expect([asked.method, asked.on]).toEqual([way.method, way.on]);
        expect([null, way.could]).toContain(asked.could);
      }
    });
    await fc.assert(property, long ? { numRuns: 50 } : { numRuns: 8, seed: 20261123 });
  }, 1_800_000);
});
