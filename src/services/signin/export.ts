import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Model, type ModelStatic, Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { Account, emailProofs, isProved } from '../../database/models/account.ts';
import { AccountBrowser } from '../../database/models/account-browser.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { Identity } from '../../database/models/identity.ts';
import { Invitation } from '../../database/models/invitation.ts';
import { Membership } from '../../database/models/membership.ts';
import { Organization } from '../../database/models/organization.ts';
import { Passkey } from '../../database/models/passkey.ts';
import { ProjectMembership } from '../../database/models/project-membership.ts';
import { ScimRecord } from '../../database/models/scim-record.ts';
import { Session } from '../../database/models/session.ts';
import { Tombstone } from '../../database/models/tombstone.ts';
import { transaction } from '../../database/transaction.ts';
import { inSlices } from '../../host/queue.ts';
import { isAllowed } from '../foundation/authority/require.ts';
import { findNewest } from '../foundation/events/person.sql.ts';
import { eventView, viewEvent } from '../foundation/events/view.ts';
import { id, instant, projectRole, role, viewOf } from '../foundation/fields.ts';
import { requirePlace } from '../foundation/limits/limit.ts';
import { operation } from '../foundation/operation.ts';
import { readAllAfter, readRows } from '../foundation/page.ts';
import { resourceOf } from '../foundation/scim-user/resource.ts';
import { userView, viewUser } from '../people/accounts/account.ts';
import { appView, viewApp } from '../people/apps/app.ts';
import { passkeyView, viewPasskey } from '../people/passkeys/passkey.ts';
import { sessionView, viewSession } from '../people/sessions/operations.ts';
import { tokenView, viewToken } from '../people/tokens/token.ts';
import { recoveryCodesView, showRecoveryCodes } from '../people/two-factor/recovery-codes.ts';
import { identityView } from '../tenancy/identities/operations.ts';
import { originView } from '../tenancy/memberships/membership.ts';
import { findPushedAmong } from '../tenancy/memberships/memberships.sql.ts';
import { listSignedIn, signedInView } from './provider/operations.ts';

// All that is stored about a person, without secrets, in one document.

/** The most entries of each list; the newest ones, if there are more. */
const most = 10_000;
/** The rows that one query reads. */
const atOnce = 500;
const exportsAnHour = 5;

const organization = z.object({ id, slug: z.string(), name: z.string() });

const accountView = userView.extend({
  emailProof: z.enum(emailProofs),
  hasPassword: z.boolean(),
  authenticatorSince: instant.nullable(),
  recoveryCodes: recoveryCodesView,
});
const membershipView = z.object({ organization, role, origin: originView, joinedAt: instant });
const projectMembershipView = z.object({
  project: z.object({ id, organizationId: id, slug: z.string(), name: z.string() }),
  role: projectRole,
  origin: originView,
  joinedAt: instant,
});
const storedSessionView = sessionView
  .omit({ current: true })
  .extend({ expiresAt: instant, endedAt: instant.nullable() });
const browserView = z.object({
  firstSeenAt: instant,
  lastSeenAt: instant.describe('The last sign-in, to the day.'),
});
const storedIdentityView = identityView
  .omit({ former: true })
  .extend({ groups: z.array(z.string()).nullable() });
const storedInvitationView = z.object({
  id,
  organization,
  email: z.string(),
  role,
  createdAt: instant,
  expiresAt: instant,
  acceptedAt: instant.nullable(),
});
const recordView = z.object({
  organization,
  userName: z.string(),
  externalId: z.string().nullable(),
  active: z.boolean(),
  createdAt: instant,
  modifiedAt: instant,
  resource: z.record(z.string(), z.unknown()).describe('The User as the SCIM client sent it.'),
});

const exportView = z.object({
  exportedAt: instant,
  account: accountView,
  memberships: z.array(membershipView),
  formerMemberships: z.array(z.object({ organization, endedAt: instant })),
  projectMemberships: z.array(projectMembershipView),
  sessions: z.array(storedSessionView),
  browsers: z.array(browserView).describe('The browsers that signed in. A new one causes a mail.'),
  tokens: z.array(tokenView),
  apps: z.array(appView),
  passkeys: z.array(passkeyView),
  identities: z.array(storedIdentityView),
  applications: z.array(signedInView),
  invitationsSent: z.array(storedInvitationView),
  invitationsReceived: z.array(storedInvitationView),
  scimRecords: z.array(recordView),
  events: z
    .array(eventView)
    .describe(
      'Events that the person caused or that are about them: those outside organizations, and those of organizations where they are admin or owner.',
    ),
  truncated: z
    .array(z.string())
    .describe(`The lists that have more than ${most} entries. They contain the newest ones.`),
});

/** All that is stored about the caller, without secrets. */
export const exportMe = operation({
  authority: 'me.account',
  input: z.strictObject({}),
  output: exportView,
  run: async (ctx, _input, { accountId }) => {
    const limit = { name: 'exports', of: accountId, most: exportsAnHour, seconds: 3600 };
    await transaction(() => requirePlace(ctx, limit, 'You have exported your data too often.'));
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const memberships = await readAllOf(Membership, accountId, 'organizationId', 'organization');
    const pushed = await findPushing(ctx, memberships);
    // What an organization says about an address may be about another person than this one.
    const tells: Tells = (organizationId) => isProved(account) && !pushed.has(organizationId);
    const lists = await readLists(account, tells);
    const projects = await readAllOf(ProjectMembership, accountId, 'projectId', 'project');
    const former = await readAllOf(Tombstone, accountId, 'organizationId');
    const browsers = await AccountBrowser.findAll({ where: { accountId }, order: ['lastSeenAt'] });
    const events = await readEvents(accountId, memberships);
    const truncated = Object.entries({ ...lists, events }).flatMap(([name, { nextCursor }]) =>
      nextCursor === null ? [] : [name],
    );
    return {
      exportedAt: ctx.now.toISOString(),
      account: {
        ...viewUser(ctx, account),
        emailProof: account.emailProof,
        hasPassword: account.passwordHash !== null,
        authenticatorSince: account.totpEnabledAt?.toISOString() ?? null,
        recoveryCodes: await showRecoveryCodes(ctx, {}),
      },
      memberships: await viewSlowly(memberships, (row) => ({
        ...viewOf(membershipView, row),
        organization: viewOrganization(row.organization),
      })),
      formerMemberships: await viewWithin(former, ({ setAt }) => ({
        endedAt: setAt.toISOString(),
      })),
      projectMemberships: await viewSlowly(projects, (row) => ({
        ...viewOf(projectMembershipView, row),
        project: viewOf(projectMembershipView.shape.project, row.project),
      })),
      sessions: lists.sessions.items,
      browsers: browsers.map((row) => viewOf(browserView, row)),
      tokens: lists.tokens.items,
      apps: lists.apps.items,
      passkeys: lists.passkeys.items,
      identities: lists.identities.items,
      applications: (await listSignedIn(ctx, { limit: 1 })).items,
      invitationsSent: lists.invitationsSent.items,
      invitationsReceived: lists.invitationsReceived.items,
      scimRecords: await viewWithin(
        lists.scimRecords.items.filter(({ organizationId }) => tells(organizationId)),
        (row) => ({
          ...viewOf(recordView, row),
          resource: resourceOf(row),
        }),
      ),
      events: events.items,
      truncated,
    };
  },
});

/** Whether the export has what the organization says about the person. */
type Tells = (organizationId: string) => boolean;

/** The organizations of the memberships that SCIM pushed (`pushedIn`). */
async function findPushing(ctx: Context, memberships: Membership[]): Promise<Set<string>> {
  const pushing = new Set<string>();
  for (const { organizationId, accountId, origin } of memberships) {
    if (origin.kind !== 'scim') continue;
    const pushed = await findPushedAmong(ctx, organizationId, [accountId]);
    if (pushed.has(accountId)) pushing.add(organizationId);
  }
  return pushing;
}

/** The newest rows of each kind. */
async function readLists({ id: accountId, email, emailProof }: Account, tells: Tells) {
  const newest = { where: { accountId }, newestFirst: true };
  const invitations = (where: Record<string | symbol, unknown>) =>
    readNewest(Invitation, { where, newestFirst: true, include: ['organization'] }, viewInvitation);
  // An address that was never proved may be another person's.
  const mine = email !== null && isProved({ emailProof }) ? [{ email }] : [];
  return {
    sessions: await readNewest(Session, newest, (row) => ({
      ...viewSession(row, null),
      ...viewOf(storedSessionView, row),
    })),
    tokens: await readNewest(AccessToken, newest, viewToken),
    apps: await readNewest(OAuthApp, { ...newest, include: ['organization'] }, (row) =>
      viewApp(row),
    ),
    passkeys: await readNewest(Passkey, newest, viewPasskey),
    identities: await readNewest(Identity, newest, (row) => viewIdentity(row, tells)),
    invitationsSent: await invitations({ invitedBy: accountId }),
    invitationsReceived: await invitations({ [Op.or]: [{ accountId }, ...mine] }),
    scimRecords: await readNewest(ScimRecord, newest, (row) => row),
  };
}

/** The newest rows, up to `most`, read in parts. */
async function readNewest<Row extends Model & { id: string }, Item>(
  model: ModelStatic<Row>,
  rows: Parameters<typeof readRows>[1],
  view: (row: Row) => Item,
): Promise<{ items: Item[]; nextCursor: string | null }> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await readRows(model, rows, { limit: atOnce, cursor }, view);
    items.push(...page.items);
    if (page.nextCursor === null || items.length >= most)
      return { items, nextCursor: page.nextCursor };
    cursor = page.nextCursor;
    await yieldToEventLoop();
  }
}

/** All rows of the account, read in parts in the order of `key`. */
function readAllOf<Key extends string, Row extends Model & Record<Key, string>>(
  model: ModelStatic<Row>,
  accountId: string,
  key: Key,
  include: string[] | string = [],
): Promise<Row[]> {
  return readAllAfter<Row>(async (last, limit) => {
    if (last !== undefined) await yieldToEventLoop();
    const after = last === undefined ? {} : { [key]: { [Op.gt]: last[key] } };
    return model.findAll({
      where: { accountId, ...after } as WhereOptions,
      include,
      order: [key],
      limit,
    });
  }, atOnce);
}

/** The views of rows that may be many. */
async function viewSlowly<Row, View>(rows: Row[], view: (row: Row) => View): Promise<View[]> {
  const views: View[] = [];
  await inSlices(rows, (some) => void views.push(...some.map(view)));
  return views;
}

function viewIdentity(row: Identity, tells: Tells) {
  const told = row.organizationId === null || tells(row.organizationId);
  const groups = told ? (row.knownGroups ?? row.lastGroups) : null;
  return { ...viewOf(storedIdentityView, row), connection: row.connectionId, groups };
}

function viewInvitation(row: Invitation) {
  return { ...viewOf(storedInvitationView, row), organization: viewOrganization(row.organization) };
}

function viewOrganization(row: Organization) {
  return viewOf(organization, row);
}

/** The views of rows of organizations, with the organization of each. */
async function viewWithin<Row extends { organizationId: string }, View>(
  rows: Row[],
  view: (row: Row) => View,
) {
  const views: (View & { organization: ReturnType<typeof viewOrganization> })[] = [];
  await inSlices(rows, async (some) => {
    const ids = [...new Set(some.map(({ organizationId }) => organizationId))];
    const found = await Organization.findAll({ where: { id: ids } });
    const organizations = new Map(found.map((row) => [row.id, viewOrganization(row)]));
    for (const row of some) {
      const organization = organizations.get(row.organizationId);
      if (organization !== undefined) views.push({ ...view(row), organization });
    }
  });
  return views;
}

/** The newest events of the person that they may see, newest first. */
async function readEvents(accountId: string, memberships: Membership[]) {
  const organizationIds = memberships
    .filter(({ role }) => isAllowed(role, 'events.see'))
    .map(({ organizationId }) => organizationId);
  const read = { organizationIds, limit: most + 1 };
  const found = [
    ...(await findNewest('about', accountId, read)),
    ...(await findNewest('caused', accountId, read)),
  ];
  // Outside organizations, an event about another account is not the person's.
  const visible = found.filter(
    ({ organizationId, subject }) =>
      organizationId !== null || subject?.type !== 'user' || subject.id === accountId,
  );
  const unique = [...new Map(visible.map((event) => [event.id, event])).values()];
  const sorted = unique.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const items = sorted.slice(0, most).map(viewEvent);
  return { items, nextCursor: sorted.length > most ? (items.at(-1)?.id ?? null) : null };
}
