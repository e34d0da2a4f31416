import { Account } from '../../../database/models/account.ts';
import type { Event } from '../../../database/models/event.ts';
import { Organization } from '../../../database/models/organization.ts';
import { viewEvent } from './view.ts';

/**
 * Events as the operator sees them: with the system account that acted, and with the organization's slug and the
 * account's address while those exist.
 */
export async function viewForOperator(events: readonly Event[]) {
  if (events.length === 0) return [];
  const organizations = await Organization.findAll({
    where: { id: [...new Set(events.flatMap(({ organizationId }) => organizationId ?? []))] },
    attributes: ['id', 'slug'],
  });
  const accounts = await Account.findAll({
    where: {
      id: [...new Set(events.flatMap(({ subject }) => (subject?.type === 'user' ? subject.id : [])))],
    },
    attributes: ['id', 'email'],
  });
  const slugs = new Map(organizations.map(({ id, slug }) => [id, slug]));
  const addresses = new Map(accounts.map(({ id, email }) => [id, email]));
  return events.map((event) => ({
    ...viewEvent(event),
    actor: event.actor,
    organization: slugs.get(event.organizationId ?? '') ?? null,
    address: addresses.get(event.subject?.id ?? '') ?? null,
  }));
}
