import { type ConnectionKindName, connectionKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { type Finding, right, type Step, wrong } from '../../../finding.ts';
import { partsOf } from '../../../next.ts';
import { inWords } from '../../foundation/limits/limit.ts';
import { testLdap } from '../../signin/methods/ldap/test.ts';
import { findWaiting } from '../../tenancy/connections/waiting.ts';
import { type Rest, restOfDoctor } from '../../tenancy/ldap/bind-tries.ts';
import { testSso } from '../../tenancy/sso/test.ts';
import { type Check, check } from './check.ts';
import { byOrganization, type Reader } from './reader.ts';

interface Examination {
  ok: boolean;
  message: string;
  steps: readonly Pick<Step, 'name' | 'ok' | 'hint'>[];
}

const readers: Record<ConnectionKindName, Reader> = {
  sso: reading((organizationId) => SsoConnection.findAll({ where: { organizationId } }), checkSso),
  ldap: reading(
    (organizationId) => LdapConnection.findAll({ where: { organizationId } }),
    checkLdap,
  ),
};

/** The tests of connections, each kind for the organizations that have it. */
export const connectionReaders: Reader[] = Object.values(readers);

/** Reads the connections of one kind, and checks each. */
function reading<Connection extends { organizationId: string }>(
  find: (organizationIds: string[]) => Promise<Connection[]>,
  look: (ctx: Context, slug: string, connection: Connection) => Promise<Check>,
): Reader {
  return async (ctx, organizations) => {
    const connectionsOf = byOrganization(await find(organizations.map(({ id }) => id)));
    return ({ id, slug }) => {
      const [connection] = connectionsOf(id);
      return connection === undefined ? null : look(ctx, slug, connection);
    };
  };
}

function checkSso(ctx: Context, slug: string, connection: SsoConnection): Promise<Check> {
  const { organizationId: org, issuer, autoRemove, absentGroups } = connection;
  const groups = connection.kind === 'saml' ? 'its groups attribute' : connection.groupsClaim;
  return check(`single sign-on of ${slug}`, 'the provider answers, and accepts the client', () =>
    findingOf(slug, connection, { kind: connectionKinds.sso.name, at: issuer }, async () => {
      const finding = ofExamination(await testSso(ctx, { org }), issuer);
      if (!finding.ok || !autoRemove || absentGroups === 'none') return finding;
      // Security I7: some providers omit the claim for people without groups.
      return right(finding.seen, [
        ...partsOf(finding.hint),
        `If the provider omits ${groups} for people without groups, they keep their former roles.`,
        {
          to: 'remove the roles',
          operation: 'sso.set',
          with: { org: slug, absentGroups: 'none' },
        },
      ]);
    }),
  );
}

function checkLdap(ctx: Context, slug: string, connection: LdapConnection): Promise<Check> {
  const { organizationId: org, uri } = connection;
  return check(`directory of ${slug}`, 'the directory answers, and the filter finds people', () =>
    findingOf(slug, connection, { kind: connectionKinds.ldap.name, at: uri }, async () => {
      const rest = await restOfDoctor(ctx, connection);
      if (rest !== null) return resting(slug, rest);
      return ofExamination(await testLdap(ctx, { org }), uri);
    }),
  );
}

/** The result of the test of an enabled connection, and whether it is waiting for approval. */
async function findingOf(
  slug: string,
  connection: { enabled: boolean; approved: boolean },
  { kind, at }: { kind: ConnectionKindName; at: string },
  test: () => Promise<Finding>,
): Promise<Finding> {
  const waiting = findWaiting(connection, kind, slug);
  const finding = connection.enabled ? await test() : right(`${at}, not enabled`);
  return withWaiting(finding, waiting);
}

/** Adds that owners have not approved the connection yet, which is not a fault. */
function withWaiting(finding: Finding, waiting: ReturnType<typeof findWaiting>): Finding {
  if (waiting === null) return finding;
  if (finding.ok) return right(`${finding.seen}; ${waiting.seen}`, waiting.hint);
  return wrong(`${finding.seen.replace(/\.$/, '')}, and it ${waiting.seen}`, finding.hint);
}

/** The finding while `doctor` pauses, so as not to lock the service account (security L8). */
function resting(slug: string, { seconds, refused, everywhere }: Rest): Finding {
  return wrong(
    `${everywhere ? 'directories have' : 'the directory has'} refused ${refused} bind passwords; doctor tests the password again in ${inWords(seconds)}`,
    [
      { say: 'Store the right password', operation: 'ldap.set-password', with: { org: slug } },
      { say: 'then test it', operation: 'ldap.test', with: { org: slug } },
    ],
  );
}

function ofExamination({ ok, message, steps }: Examination, subject: string): Finding {
  const step = steps.find((each) => !each.ok);
  // A certificate that has ended or ends soon is not a fault.
  const ending = steps.find(({ name }) => name === 'certificates')?.hint;
  return ok
    ? right(subject, ending)
    : wrong(message, step?.hint ?? 'Run the connection test to see each step.');
}
