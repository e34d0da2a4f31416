import { z } from 'zod';
import { isConnectionKind } from '../../../../connection-kinds.ts';
import type { Origin, Role } from '../../../../database/models/membership.ts';
import { Refusal } from '../../../../errors.ts';
import { shownTo } from '../../../foundation/authority/shown.ts';
import { email, role } from '../../../foundation/fields.ts';
import { documentCaps } from '../../../foundation/limits/caps.ts';
import { type Draft, dropSurplus } from '../changes.ts';
import type { Person, Wanted } from '../outside.ts';
import { listOf, named, type Read } from '../section.ts';
import { type Given, readMemberRows } from '../state.sql.ts';
import { addMembers, type MembersSteps, removeMembers } from './apply-members.ts';
import type { OrganizationState } from './organization.ts';

const input = listOf(
  z.strictObject({ email, role }),
  (entry) => entry.email,
  'Members, except those that joined through single sign-on, LDAP or SCIM.',
  documentCaps.members,
).optional();

/** A member of the organization. */
interface Member {
  accountId: string;
  /** The account's address. Null if it has none, or if the organization sees another address. */
  email: string | null;
  role: Role;
  /** How the membership began. */
  kind: Origin['kind'];
  /** For a role from a mapping: its source, connection, group and mapping. */
  given: (Pick<Given, 'source' | 'by' | 'group'> & { mappingId: string }) | null;
}

/** The part of the state with the members of the organization. */
export interface MembersState {
  members: Member[];
}

const read: Read<Member[]> = async (_ctx, { id }) => {
  const shown = await shownTo(id, 'all');
  const members = await readMemberRows(id);
  return members.map(({ accountId, email, name, role, kind, synced, mappingId, ...rest }) => {
    // On a foreign domain, the SCIM client chooses the shown address: it identifies no account.
    const isOwn = shown({ id: accountId, email, name }).email === email;
    const { source, by, group } = rest;
    const given = synced && mappingId !== null ? { source, by, group, mappingId } : null;
    return { accountId, email: isOwn ? email : null, role, kind, given };
  });
};

/** Whether a connection, SCIM or a mapping created the membership. Documents omit such members. */
function isAutomatic({ kind }: Pick<Member, 'kind'>): boolean {
  return isConnectionKind(kind) || ['scim', 'mapping'].includes(kind);
}

type MembersWanted = Wanted<OrganizationState & MembersState, { members?: z.output<typeof input> }>;

function plan(draft: Draft, wanted: MembersWanted): MembersSteps['members'] {
  const { state, document, outside, prune } = wanted;
  const steps: MembersSteps['members'] = { add: [], change: [], remove: [] };
  if (document.members === undefined) return steps;
  const here = peopleOf(state.members);
  const listed = new Set<string>();
  for (const { email, role } of document.members) {
    const person = outside.people.get(email);
    const member = here.byEmail.get(email) ?? here.byId.get(idIn(person));
    if (member !== undefined) {
      listed.add(member.accountId);
      const uninvited = role === 'owner' ? outside.uninvited.get(email) : undefined;
      if (uninvited !== undefined)
        draft.blocked.push({ section: 'members', key: email, ...uninvited });
      else if (member.role !== role) {
        pushChange(draft, 'change', email, { from: member.role, to: role });
        steps.change.push({ accountId: member.accountId, from: member.role, role });
      }
    } else if (person === undefined || 'code' in person) {
      if (person !== undefined) draft.blocked.push({ section: 'members', key: email, ...person });
    } else {
      listed.add(person.accountId);
      pushChange(draft, 'add', email, { from: null, to: role });
      steps.add.push({ accountId: person.accountId, email, role });
    }
  }
  const surplus = state.members.filter(
    (member) => !isAutomatic(member) && !listed.has(member.accountId),
  );
  steps.remove = dropMembers(draft, surplus, prune);
  requireOwner(steps, state);
  return steps;
}

function pushChange(
  draft: Draft,
  action: 'add' | 'change',
  key: string,
  roles: { from: Role | null; to: Role },
): void {
  const fields = [{ field: 'role', ...roles }];
  draft.changes.push({ section: 'members', action, key, fields });
}

function dropMembers(draft: Draft, surplus: Member[], prune: boolean) {
  const known = surplus.flatMap(({ accountId, email, role }) =>
    email === null ? [] : [{ accountId, email, role }],
  );
  const dropped = dropSurplus(draft, 'members', known, {
    prune,
    keyOf: ({ email }) => email,
    fieldsOf: ({ role }) => [{ field: 'role', from: role, to: null }],
  });
  return dropped.map(({ accountId, role }) => ({ accountId, from: role }));
}

/** Refuses a plan that removes the last owner, as the commands for one member do. */
function requireOwner(
  { add, change, remove }: MembersSteps['members'],
  { members, organization }: MembersWanted['state'],
): void {
  const owners = new Set(
    members.filter(({ role }) => role === 'owner').map(({ accountId }) => accountId),
  );
  if (owners.size === 0) return;
  for (const { accountId, role } of [...change, ...add]) {
    if (role === 'owner') owners.add(accountId);
    else owners.delete(accountId);
  }
  for (const { accountId } of remove) owners.delete(accountId);
  if (owners.size > 0) return;
  throw new Refusal('last_owner', `${organization.slug} would be left without an owner.`, {
    hint: { technical: 'Keep an owner in `members`, or make another member an owner first.' },
  });
}

/** The members by address and by account. */
export function peopleOf(members: Member[]) {
  return {
    byEmail: new Map(members.map((member) => [member.email, member])),
    byId: new Map(members.map((member) => [member.accountId, member])),
  };
}

/** The account of the person; empty if there is none to add. */
export function idIn(person: Person | undefined): string {
  return person !== undefined && 'accountId' in person ? person.accountId : '';
}

/** The members that an export lists, with those whose address the organization does not know. */
function manual({ members }: MembersState): Member[] {
  return members.filter((member) => !isAutomatic(member));
}

/** The section with the members of the organization. */
export const members = {
  input,
  exported: z.array(z.object({ email: z.string(), role })),
  read,
  plan,
  add: addMembers,
  remove: removeMembers,
  view: (state: MembersState) => named(manual(state)),
  cap: {
    // The cap of a document: an organization can have more.
    max: documentCaps.members,
    count: (state: MembersState) => named(manual(state)).length,
  },
};
