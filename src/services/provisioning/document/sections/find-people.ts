import type { Context } from '../../../../context.ts';
import { isProvedForGood } from '../../../../database/models/account.ts';
import type { Role } from '../../../../database/models/membership.ts';
import type { Organization } from '../../../../database/models/organization.ts';
import { slowly } from '../../../../host/queue.ts';
import { domainOf } from '../../../foundation/domain-names/canonical.ts';
import { listCredentials } from '../../../people/credentials/credentials.ts';
import { isToReclaim } from '../../../tenancy/identities/reclaim.ts';
import { findUninvited, inviteAsOwner } from '../../../tenancy/memberships/together.ts';
import { type Found, findByAddresses } from '../gather.sql.ts';
import type { Outside, Person } from '../outside.ts';
import type { DomainsState } from './domains.ts';
import type { MembersState } from './members.ts';

// Finds the accounts of the people in the section `members`.

interface Known {
  state: DomainsState & MembersState;
  document: { members?: { email: string; role: Role }[] | undefined };
}

/** For each address without a membership: its account, or why it cannot be added (security O8). */
export async function findPeople(
  ctx: Context,
  organization: Organization,
  { state, document }: Known,
): Promise<Outside['people']> {
  const here = new Set(state.members.map(({ email }) => email));
  const said = (document.members ?? []).map(({ email }) => email);
  const unknown = said.filter((email) => !here.has(email));
  const verified = new Set(
    state.domains.filter((domain) => domain.state === 'Verified').map(({ name }) => name),
  );
  const direct = ctx.actor.kind === 'operator' || ctx.config.trust.domains === 'off';
  const allowed = unknown.filter((email) => direct || verified.has(domainOf(email)));
  const found = await findByAddresses(allowed);
  const accounts = new Map(found.map((account) => [account.email, account]));
  const mayAdd = new Set(allowed);
  const people = new Map<string, Person>();
  for await (const email of slowly(unknown)) {
    const account = accounts.get(email);
    if (!mayAdd.has(email)) people.set(email, inviteInstead(organization, email));
    else if (account === undefined) people.set(email, noAccount(email));
    else people.set(email, await addable(ctx, organization, account));
  }
  return people;
}

/** The members who can become owners only by an invitation, each with the reason. */
export async function findBarredOwners(
  ctx: Context,
  organization: Organization,
  { state, document: { members = [] } }: Known,
): Promise<Outside['uninvited']> {
  const owners = new Set(members.filter(({ role }) => role === 'owner').map(({ email }) => email));
  const rising = state.members.flatMap(({ accountId, email, role }) =>
    email !== null && role !== 'owner' && owners.has(email) ? [{ accountId, email }] : [],
  );
  const uninvited = await findUninvited(
    ctx,
    organization.id,
    rising.map(({ accountId }) => accountId),
  );
  return new Map(
    rising
      .filter(({ accountId }) => uninvited.has(accountId))
      .map(({ email }) => [email, inviteAsOwner(organization, email, email)]),
  );
}

function inviteInstead({ slug }: Organization, email: string): Person {
  return {
    code: 'invite_instead',
    message: `${email} is not on a verified domain of ${slug}.`,
    hint: {
      say: 'Invite the person instead',
      operation: 'invitation.create',
      with: { email, org: slug },
    },
  };
}

function noAccount(email: string): Person {
  return {
    code: 'not_found',
    message: `There is no user ${email}.`,
    hint: {
      say: 'The operator can create the account',
      operation: 'user.create',
      with: { email },
    },
  };
}

/**
 * The account to add. If its e-mail address is not verified, the operator must first decide whether
 * it keeps its credentials.
 */
async function addable(ctx: Context, organization: Organization, account: Found): Promise<Person> {
  const { id: accountId, email } = account;
  if (ctx.actor.kind !== 'operator' || isProvedForGood(account)) return { accountId };
  if (!(await isToReclaim(ctx, account, organization.id))) return { accountId };
  if ((await listCredentials(ctx, accountId)).length === 0) return { accountId };
  const given = { email: email ?? accountId, org: organization.slug };
  return {
    code: 'conflict',
    message: `The account ${email} has credentials, but its address has no valid verification.`,
    hint: [
      { to: 'add the person without the credentials', operation: 'member.add', with: given },
      { to: 'keep the credentials', operation: 'member.add-trusted', with: given },
    ],
  };
}
