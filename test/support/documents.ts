import fc from 'fast-check';
import type { Context } from '../../src/context.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import {
  applyOrganization,
  exportOrganization,
  planOrganization,
} from '../../src/services/provisioning/document/operations.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { fresh, password } from './builders.ts';
import type { Idctl } from './idctl.ts';

/** A document as a caller sends it. */
export type Sent = Record<string, unknown>;

/** Plans a document as this actor. */
export function plan(ctx: Context, org: string, document: Sent, prune = false) {
  return planOrganization(ctx, planOrganization.input.parse({ org, document, prune }));
}

/** Plans a document and applies it. */
export async function apply(ctx: Context, org: string, document: Sent, prune = false) {
  const { digest } = await plan(ctx, org, document, prune);
  return applyOrganization(ctx, applyOrganization.input.parse({ org, document, prune, digest }));
}

/** Exports the document of an organization, without `$schema`. */
export async function exported(ctx: Context, org: string): Promise<Sent> {
  const { $schema: _, ...document } = await exportOrganization(ctx, { org });
  return document;
}

/** Creates an empty organization, and accounts for people who are not its members. */
export async function foundEmpty(idctl: Idctl, people = 4) {
  const org = await createOrganization(idctl.operator(), { name: fresh('acme') });
  const emails: string[] = [];
  for (let count = 0; count < people; count += 1) {
    const email = `${fresh('p')}@people.test`;
    await createUser(idctl.operator(), { email, name: 'Ada Byron', password });
    emails.push(email);
  }
  return { ...org, people: emails.toSorted() };
}

const slug = fc
  .stringMatching(/^[a-z][a-z0-9]{1,6}$/)
  .filter((text) => !/^(new|api|admin|auth|login|me|orgs|scim)$/.test(text));
const name = fc.stringMatching(/^[A-Za-z][A-Za-z é]{0,12}[a-z]$/);
const projectRole = fc.constantFrom('viewer', 'commenter', 'member', 'admin');

/** Whole documents of the organization in the form of an export, with some of these people. */
export function documents(slugOfOrg: string, people: string[]): fc.Arbitrary<Sent> {
  const projects = fc.uniqueArray(fc.record({ slug, name }), {
    selector: (project) => project.slug,
    maxLength: 5,
  });
  const members = fc.tuple(
    fc.subarray(people, { minLength: 1 }),
    fc.infiniteStream(fc.constantFrom('member', 'admin', 'owner')),
  );
  return fc
    .record({ projects, members, name, domains: fc.uniqueArray(slug, { maxLength: 3 }) })
    .chain(({ projects: given, members: [chosen, roles], name: called, domains }) => {
      const list = chosen.map((email, at) => ({
        email,
        role: at === 0 ? 'owner' : String(roles.next().value),
      }));
      const inProject = given.map((project) =>
        fc
          .tuple(fc.subarray(chosen), projectRole)
          .map(([some, role]) => ({ ...project, members: some.map((email) => ({ email, role })) })),
      );
      const slugs = given.map((project) => project.slug);
      const mapping = fc.record({
        group: fc
          .string({ minLength: 1, maxLength: 12, unit: 'grapheme-ascii' })
          .filter((text) => text.trim() !== ''),
        project: fc.constantFrom(...(slugs.length === 0 ? ['none'] : slugs)),
        role: projectRole,
      });
      const key = (one: { group: string; project: string; role: string }) =>
        `${one.project}/${one.role}/${one.group}`;
      return fc.record({
        idctl: fc.constant(1),
        organization: fc.constant({ slug: slugOfOrg, name: called }),
        domains: fc.constant(domains.toSorted().map((one) => ({ domain: `${one}.test` }))),
        sso: fc.oneof(fc.constant(null), connection(domains)),
        ldap: fc.constant(null),
        mappings: fc
          .uniqueArray(mapping, { selector: key, maxLength: slugs.length === 0 ? 0 : 6 })
          .map((some) => some.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))),
        projects: fc
          .tuple(...inProject)
          .map((some) => some.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))),
        members: fc.constant(list),
        signin: fc.oneof(
          fc.constant({}),
          fc.record({ magicCode: fc.boolean(), allowSelfSignup: fc.boolean() }),
        ),
        webhooks: fc.constant([]),
        clients: clients(slugs),
      });
    });
}

/** Clients as an export lists them: in order, without defaults. */
function clients(projects: string[]): fc.Arbitrary<Sent[]> {
  const uris = fc
    .uniqueArray(slug, { minLength: 1, maxLength: 3 })
    .map((hosts) => hosts.map((host) => `https://${host}.test/callback`).toSorted());
  const closed =
    projects.length === 0
      ? fc.constant({})
      : fc.oneof(
          fc.constant({}),
          fc.record({ project: fc.constantFrom(...projects), role: projectRole }),
        );
  const kind = fc.constantFrom({}, { public: true }, { pkce: false }, { idTokenAlg: 'EdDSA' });
  return fc
    .uniqueArray(fc.tuple(fc.record({ name, redirectUris: uris }), kind, closed), {
      selector: ([one]) => one.name,
      maxLength: 3,
    })
    .map((some) =>
      some
        .map(([one, kind, closed]) => ({ ...one, ...kind, ...closed }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
}

function connection(domains: string[]): fc.Arbitrary<Sent> {
  return fc.record({
    emailDomain: fc.constant(`${domains[0] ?? 'other'}.test`),
    issuer: fc.constantFrom('https://idp.test', 'https://login.test/realm'),
    clientId: slug,
    clientSecret: fc.record({ value: slug }),
  });
}
