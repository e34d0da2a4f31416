import type { ScimResource } from './attributes.ts';
import type { Filter } from './filter.ts';

// The tables this reads:
//   scim_records r: id uuid, organization_id uuid, user_name_canonical text not null (fold(userName)), external_id text null,
//     active boolean, created_at, modified_at, search (SQLite TEXT, PostgreSQL JSONB or TEXT): JSON.stringify(searchDocument(resource))
//   scim_emails: record_id uuid, organization_id uuid, value_canonical text (fold(emails[].value)); one row per entry, duplicates dropped

/** A condition on `scim_records r`, with its values for `$n`. */
export interface Condition {
  sql: string;
  bind: unknown[];
  /** False when answering it can mean reading every record of the organization: run it under a time limit. */
  indexed: boolean;
}

/** The filter as SQL; its first parameter is `$<first>`, the organization's id is `$<organization>`. */
export declare function filterCondition(
  filter: Filter,
  options: { dialect: 'sqlite' | 'postgres'; first: number; organization: number },
): Condition;

/** What a list is sorted by, as an SQL expression over `scim_records r`; 400 `invalidPath` when it cannot be. */
export declare function sortExpression(sortBy: string, dialect: 'sqlite' | 'postgres'): string;

/** What `scim_records.search` holds: the resource, folded where it is not case-exact. Stored whenever the resource is. */
export declare function searchDocument(resource: ScimResource): ScimResource;

/** The rows of `scim_emails`. */
export declare function searchEmails(resource: ScimResource): string[];
