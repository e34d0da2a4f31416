import type { Context } from '../../../context.ts';
import type { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { select, selectAmong } from '../../../database/select.ts';

/** The query for the domains in `list`; `creation` is the parameter of `orgs.creation`. */
const queryFor = (list: string, creation: string) =>
  `SELECT g.domain, g.id, g.owner, s.password, s.passkey, s.magic_code AS "magicCode", s.google, s.github,
    s.allow_self_signup AS "allowSelfSignup",
    s.restrict_oauth_to_verified_domains AS "restrictOauthToVerifiedDomains"
  FROM (SELECT n.column1 AS domain, d.organization_id AS owner, COALESCE(d.organization_id,
        (SELECT o.id FROM organizations o WHERE ${creation} = 'operator'
          AND (SELECT COUNT(*) FROM (SELECT 1 FROM organizations LIMIT 2) two) = 1)) AS id
      FROM (VALUES (${list.replaceAll(', ', '), (')})) n
      LEFT JOIN domains d ON d.name = n.column1 AND d.state = 'Verified') g
  LEFT JOIN sign_in_settings s ON s.organization_id = g.id`;

// Bypasses the ORM with one read, because every sign-in runs this query.
const query = queryFor('$1', '$2');

const columns = {
  password: 'flag',
  passkey: 'flag',
  magicCode: 'flag',
  google: 'flag',
  github: 'flag',
  allowSelfSignup: 'flag',
  restrictOauthToVerifiedDomains: 'flag',
} as const;

/** The stored settings that govern a domain; all null if the instance's settings govern. */
interface Governing extends Pick<SignInSettings, keyof typeof columns> {
  domain: string;
  /** The organization whose settings these are; null for the instance. */
  id: string | null;
  /** The organization that has verified the domain, if any. */
  owner: string | null;
}

/** Reads the settings that govern an e-mail domain; '' for no domain. */
export async function readGoverning(
  domain: string,
  creation: Context['config']['orgs']['creation'],
): Promise<Governing> {
  const [row] = await select<Governing>(query, [domain, creation], { prepared: true, columns });
  if (row === undefined) throw new Error('a query that always returns a row returned none');
  return row;
}

/** Reads the settings that govern each of the e-mail domains. */
export function readGoverningAmong(
  domains: string[],
  creation: Context['config']['orgs']['creation'],
): Promise<Governing[]> {
  return selectAmong<Governing>(domains, queryFor, [creation], { columns });
}
