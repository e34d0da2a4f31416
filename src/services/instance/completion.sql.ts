import { select } from '../../database/select.ts';
import { likePrefix } from '../../text/like.ts';

/** The kinds of names that shell completion reads from the database. */
export type Kind = 'org' | 'user' | 'domain' | 'project';

/** A name with a short description. */
export interface NamedThing {
  value: string;
  about: string;
}

const max = 200;

const queries: Record<Kind, string> = {
  org: 'SELECT slug AS value, name AS about FROM organizations WHERE slug LIKE $1',
  user: 'SELECT email AS value, name AS about FROM accounts WHERE email LIKE $1',
  domain: `SELECT d.name AS value, d.state AS about FROM domains d JOIN organizations o ON o.id = d.organization_id
    WHERE d.name LIKE $1`,
  project: `SELECT p.slug AS value, p.name AS about FROM projects p JOIN organizations o ON o.id = p.organization_id
    WHERE p.slug LIKE $1`,
};

/**
 * The names with this prefix, at most 200. `org`, an id or slug, limits domains and projects to one
 * organization. Only for users who can read the database, which must be open.
 */
export async function listNames(kind: Kind, begin: string, org: string | undefined) {
  const within = org !== undefined && (kind === 'domain' || kind === 'project');
  const sql = [
    `${queries[kind]} ESCAPE '\\'`,
    ...(within ? ['AND (o.slug = $2 OR CAST(o.id AS TEXT) = $2)'] : []),
    `ORDER BY 1 LIMIT ${max}`,
  ].join(' ');
  return select<NamedThing>(sql, within ? [likePrefix(begin), org] : [likePrefix(begin)]);
}
