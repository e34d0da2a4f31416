import { z } from 'zod';
import { Domain } from '../../../../database/models/domain.ts';
import { domain } from '../../../foundation/fields.ts';
import { caps } from '../../../foundation/limits/caps.ts';
import { addDomain, removeDomain } from '../../../tenancy/domains/operations.ts';
import { type Draft, dropSurplus } from '../changes.ts';
import type { Wanted } from '../outside.ts';
import { type Apply, by, listOf, type Read } from '../section.ts';

const input = listOf(
  z.strictObject({ domain }),
  (entry) => entry.domain,
  'The e-mail domains.',
).optional();

/** The part of the state with the domains. */
export interface DomainsState {
  domains: Pick<Domain, 'name' | 'state'>[];
}

/** The part of the steps with the domains. */
export interface DomainsSteps {
  domains: { add: string[]; remove: string[] };
}

type DomainsWanted = Wanted<DomainsState, { domains?: z.output<typeof input> }>;

const read: Read<DomainsState['domains']> = async (_ctx, { id: organizationId }) => {
  const stored = await Domain.findAll({ where: { organizationId }, order: ['name'] });
  return stored.map(({ name, state }) => ({ name, state }));
};

function plan(draft: Draft, { state, document, prune }: DomainsWanted): DomainsSteps['domains'] {
  const { domains } = document;
  if (domains === undefined) return { add: [], remove: [] };
  const there = new Set(state.domains.map(({ name }) => name));
  const listed = new Set(domains.map(({ domain }) => domain));
  const add = [...listed].filter((name) => !there.has(name));
  for (const name of add) draft.changes.push({ section: 'domains', action: 'add', key: name });
  const surplus = state.domains.filter(({ name }) => !listed.has(name));
  const dropped = dropSurplus(draft, 'domains', surplus, {
    prune,
    keyOf: ({ name }) => name,
    fieldsOf: ({ state }) => [{ field: 'state', from: state, to: null }],
  });
  return { add, remove: dropped.map(({ name }) => name) };
}

const add: Apply<DomainsSteps> = async (ctx, { id: org }, { domains }) => {
  for (const domain of domains.add) await addDomain(ctx, { org, domain });
};

const remove: Apply<DomainsSteps> = async (ctx, { id: org }, { domains }) => {
  for (const domain of domains.remove) await removeDomain(ctx, { org, domain });
};

/** The section with the e-mail domains. */
export const domains = {
  input,
  exported: z.array(z.object({ domain: z.string() })),
  read,
  plan,
  add,
  remove,
  view: ({ domains }: DomainsState) =>
    domains.map(({ name }) => ({ domain: name })).toSorted(by(({ domain }) => domain)),
  cap: {
    max: caps.domains.max,
    // Only pending domains count.
    count: ({ domains }: DomainsState) =>
      domains.filter((domain) => domain.state === 'Pending').length,
    removesFirst: false,
  },
};
