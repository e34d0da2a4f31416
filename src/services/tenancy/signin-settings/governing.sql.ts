import type { Context } from '../../../context.ts';
import type { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { select } from '../../../database/select.ts';

// Bypasses the ORM with one read, because every sign-in runs this query.
const query = `SELECT g.id, g.owner, s.password, s.passkey, s.magic_code AS "magicCode", s.google, s.github,
    s.allow_self_signup AS "allowSelfSignup",
    s.restrict_oauth_to_verified_domains AS "restrictOauthToVerifiedDomains"
  FROM (SELECT COALESCE(d.organization_id, o.id) AS id, d.organization_id AS owner FROM (SELECT 1 AS one) always
    LEFT JOIN domains d ON d.name = $1 AND d.state = $2
    LEFT JOIN organizations o ON d.id IS NULL AND $3 = 'operator'
      AND (SELECT COUNT(*) FROM (SELECT 1 FROM organizations LIMIT 2) two) = 1) g
  LEFT JOIN sign_in_settings s ON s.organization_id = g.id`;

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
  const [row] = await select<Governing>(query, [domain, 'Verified', creation], {
    prepared: true,
    columns,
  });
  if (row === undefined) throw new Error('a query that always returns a row returned none');
  return row;
}
