import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Model, type ModelStatic, Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { Account, isProved } from '../../../database/models/account.ts';
import { AccountBrowser } from '../../../database/models/account-browser.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Invitation } from '../../../database/models/invitation.ts';
import { Membership } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { ProjectMembership } from '../../../database/models/project-membership.ts';
import { ScimRecord } from '../../../database/models/scim-record.ts';
import { Session } from '../../../database/models/session.ts';
import { SetupLink } from '../../../database/models/setup-link.ts';
import { Tombstone } from '../../../database/models/tombstone.ts';
import { transaction } from '../../../database/transaction.ts';
import { inSlices } from '../../../host/queue.ts';
import { isAllowed } from '../../foundation/authority/require.ts';
import { findNewest } from '../../foundation/events/person.sql.ts';
import { viewEvent } from '../../foundation/events/view.ts';
import { viewOf } from '../../foundation/fields.ts';
import { requirePlace } from '../../foundation/limits/limit.ts';
import { operation } from '../../foundation/operation.ts';
import { readAllAfter, readRows } from '../../foundation/page.ts';
import { resourceOf } from '../../foundation/scim-user/resource.ts';
import { viewUser } from '../../people/accounts/account.ts';
import { viewApp } from '../../people/apps/app.ts';
import { viewPasskey } from '../../people/passkeys/passkey.ts';
import { viewSession } from '../../people/sessions/operations.ts';
import { viewToken } from '../../people/tokens/token.ts';
import { showRecoveryCodes } from '../../people/two-factor/recovery-codes.ts';
import { findPushedAmong } from '../../tenancy/memberships/memberships.sql.ts';
import { listSignedIn } from '../provider/operations.ts';
import {
  browserView,
  exportView,
  maxEntries,
  membershipView,
  projectMembershipView,
  recordView,
  storedSessionView,
  type Tells,
  viewIdentity,
  viewInvitation,
  viewOrganization,
  viewSetupLink,
} from './view.ts';

// What is stored about the account of a person, without secrets, in one document.

/** The rows that one query reads. */
const atOnce = 500;
const exportsAnHour = 5;

/** What is stored about the account of the caller, without secrets. */
export const exportMe = operation({
  authority: 'me.account',
  input: z.strictObject({}),
  output: exportView,
  run: async (ctx, _input, { accountId }) => {
    const limit = { name: 'exports', of: accountId, max: exportsAnHour, seconds: 3600 };
    await transaction(() => requirePlace(ctx, limit, 'You have exported your data too often.'));
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
    const memberships = await readAllOf(Membership, accountId, 'organizationId', 'organization');
    const pushed = await findPushing(ctx, memberships);
    // An organization's data about an address may be about another person.
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
      memberships: await viewInSlices(memberships, (row) => ({
        ...viewOf(membershipView, row),
        organization: viewOrganization(row.organization),
      })),
      formerMemberships: await viewWithin(former, ({ setAt }) => ({
        endedAt: setAt.toISOString(),
      })),
      projectMemberships: await viewInSlices(projects, (row) => ({
        ...viewOf(projectMembershipView, row),
        project: viewOf(projectMembershipView.shape.project, row.project),
      })),
      sessions: lists.sessions.items,
      browsers: browsers.map((row) => viewOf(browserView, row)),
      tokens: lists.tokens.items,
      apps: lists.apps.items,
      passkeys: lists.passkeys.items,
      identities: lists.identities.items,
      // This list has no pages, whatever the limit.
      applications: (await listSignedIn(ctx, { limit: 1 })).items,
      invitationsSent: lists.invitationsSent.items,
      invitationsReceived: lists.invitationsReceived.items,
      setupLinks: lists.setupLinks.items,
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
    setupLinks: await readNewest(SetupLink, newest, viewSetupLink),
    scimRecords: await readNewest(ScimRecord, newest, (row) => row),
  };
}

/** The newest rows, up to `maxEntries`, read in parts. */
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
    if (page.nextCursor === null || items.length >= maxEntries)
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
    const after = last === undefined ? [] : [{ [key]: { [Op.gt]: last[key] } }];
    const where: WhereOptions = { [Op.and]: [{ accountId }, ...after] };
    return model.findAll({ where, include, order: [key], limit });
  }, atOnce);
}

/** The views of rows that may be many. */
async function viewInSlices<Row, View>(rows: Row[], view: (row: Row) => View): Promise<View[]> {
  const views: View[] = [];
  await inSlices(rows, (some) => void views.push(...some.map(view)));
  return views;
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
  const about = await readNewestEvents('about', accountId, organizationIds);
  const caused = await readNewestEvents('caused', accountId, organizationIds);
  const found = new Map([...about, ...caused].map((event) => [event.id, event]));
  const sorted = [...found.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const items = await viewInSlices(sorted.slice(0, maxEntries), viewEvent);
  return { items, nextCursor: sorted.length > maxEntries ? (items.at(-1)?.id ?? null) : null };
}

type PersonEvent = Awaited<ReturnType<typeof findNewest>>[number];

/** The newest events of one kind, up to one more than `maxEntries`, read in parts. */
async function readNewestEvents(
  by: Parameters<typeof findNewest>[0],
  accountId: string,
  organizationIds: string[],
): Promise<PersonEvent[]> {
  const events: PersonEvent[] = [];
  for (let before = afterAllIds; events.length <= maxEntries; ) {
    const page = await findNewest(by, accountId, { organizationIds, before, limit: atOnce });
    // Outside organizations, an event about another account is not the person's.
    const visible = page.filter(
      ({ organizationId, subject }) =>
        organizationId !== null || subject?.type !== 'user' || subject.id === accountId,
    );
    events.push(...visible);
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) return events;
    before = last.id;
    await yieldToEventLoop();
  }
  return events;
}

/** An id after all others. */
const afterAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
