import type { Context } from '../../../../context.ts';
import { requireScim } from '../../../foundation/authority/require.ts';
import type { ScimResource } from '../../../foundation/scim-user/attributes.ts';
import { parseFilter } from '../filter.ts';
import { readFiltered } from '../list/filtered.ts';
import { readWholeList } from '../list/places.ts';
import { readProjection } from '../view.ts';
import type { AtUsers } from './input.ts';
import { mostInPage } from './most.ts';
import { presentUser } from './present.ts';

/** The query of a list (RFC 7644 §3.4.2), with numbers as requested. */
export interface ListQuery extends AtUsers {
  filter?: string | undefined;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
  startIndex?: number | undefined;
  count?: number | undefined;
}

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const usual = 100;

/** A page of the organization's Users, current and former members, with the total. */
export async function listUserResources(ctx: Context, input: ListQuery): Promise<ScimResource> {
  const organizationId = requireScim(ctx, input.org);
  const project = readProjection(input);
  const filter = input.filter === undefined ? null : parseFilter(input.filter);
  const startIndex = Math.max(1, input.startIndex ?? 1);
  const count = Math.min(mostInPage, Math.max(0, input.count ?? usual));
  const { sortBy } = input;
  const window = { from: startIndex - 1, count };
  const descending = input.sortOrder?.toLowerCase() === 'descending';
  const { total, records } =
    filter === null && sortBy === undefined
      ? await readWholeList(ctx, organizationId, window)
      : await readFiltered(organizationId, { filter, sortBy, descending, ...window });
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: records.length,
    Resources: records.map((record) => presentUser(ctx, record, project).body),
  };
}
