import { Refusal } from '../../../../errors.ts';
import { type Finding, wrong } from '../../../../finding.ts';
import type { Next } from '../../../../next.ts';
import type { DirectoryClient, DirectoryQuery } from '../../../../outbound/directory/directory.ts';
import type {
  DirectoryFailure,
  DirectoryReason,
  DirectoryStage,
  Reason,
} from '../../../../reasons.ts';
import type { Missing } from '../../../tenancy/ldap/find-person.ts';

// Each fault, and the one thing to change (security L9). A directory's own texts are never shown.

/** The fault as the admin sees it, and the thing to change. */
export interface Words {
  seen: string;
  hint: Next;
}

/** The directory's refusals of a bind or of a search. */
export const reasonWords: Record<DirectoryReason, Words> = {
  credentials_refused: {
    seen: 'the name or the password is refused',
    hint: 'Check that an account with this DN exists, and enter the password again.',
  },
  user_unknown: {
    seen: 'there is no such account',
    hint: 'Check the name. Active Directory accepts a DN, user@domain or DOMAIN\\user.',
  },
  wrong_password: { seen: 'the password is wrong', hint: 'Enter the password again.' },
  logon_hours: {
    seen: 'the account may not sign in at this hour',
    hint: 'Change the logon hours of the account in the directory.',
  },
  workstation: {
    seen: 'the account may not sign in from this machine',
    hint: 'Allow this machine among the logon workstations of the account.',
  },
  password_expired: {
    seen: 'the password has expired',
    hint: "Change the password in the directory. A service account's password should never expire.",
  },
  account_disabled: {
    seen: 'the account is disabled',
    hint: 'Enable the account in the directory.',
  },
  account_expired: { seen: 'the account has expired', hint: 'Change its expiry in the directory.' },
  must_change_password: {
    seen: 'the password must be changed before the next sign-in',
    hint: 'Change the password in the directory, or take this requirement off the account.',
  },
  account_locked: {
    seen: 'the account is locked after too many wrong passwords',
    hint: 'Unlock the account in the directory.',
  },
  stronger_auth_required: {
    seen: 'the directory requires a signed or encrypted connection',
    hint: 'Use ldaps://, or ldap:// with TLS on.',
  },
  encryption_required: {
    seen: 'the directory requires an encrypted connection',
    hint: 'Use ldaps://, or ldap:// with TLS on.',
  },
  dn_malformed: {
    seen: 'the directory does not accept the name as a DN',
    hint: 'Check the spelling of the DN; commas inside a value are written as \\,',
  },
  anonymous_refused: {
    seen: 'the account cannot sign in with a password',
    hint: 'Give the account a password, or use another account.',
  },
  not_permitted: {
    seen: 'the directory does not permit this request',
    hint: 'Look at the access rules of the directory for this account.',
  },
  base_missing: {
    seen: 'the search base does not exist, or the service account may not see it',
    hint: 'Check the search base, and that the service account may read it.',
  },
  bind_required: {
    seen: 'the directory does not let the service account search',
    hint: 'Use an account that may search below the base.',
  },
  referred: {
    seen: 'the directory says that another server has this base',
    hint: 'Connect to the server that has it; referrals are not followed.',
  },
  limit_exceeded: {
    seen: 'the search takes more than the directory allows',
    hint: 'Have the attributes of the filter indexed, or use a narrower base.',
  },
  refused: {
    seen: 'the directory refuses for a reason of its own',
    hint: 'Look in the log of the directory for the request that was sent just now.',
  },
};

/** The faults in the result of a search. */
export const searchWords: Record<'empty' | Missing, Words> = {
  empty: {
    seen: 'the filter matches no entry',
    hint: 'Check the attributes in the filter, and that the service account may read the entries.',
  },
  user_not_found: {
    seen: 'no entry matches the filter with this user name',
    hint: 'Check the user name, the attribute in the filter, and the search base.',
  },
  user_ambiguous: {
    seen: 'more than one entry matches the filter with this user name',
    hint: 'Make the filter narrower: user names must be unique below the search base.',
  },
  dn_outside_base: {
    seen: 'the entry is not below the search base',
    hint: 'Use the search base that the entries are below.',
  },
  entry_malformed: {
    seen: 'the DN or the entryUUID of the entry is too long, or has control characters',
    hint: 'Correct the entry: a DN and an entryUUID have at most 2000 bytes.',
  },
};

const elsewhere = 'Check that the directory is up, and that this machine may reach it.';

/** What to do about each failure of a connection to a directory. */
const failureHints: Record<DirectoryFailure, string> = {
  timeout: elsewhere,
  too_large: 'Use a narrower base, or smaller attributes.',
  redirected: elsewhere,
  name_not_found: 'Check the spelling, and that this machine can resolve the name.',
  connection_refused:
    'Check the port, and that the directory is up: 636 for ldaps://, 389 for ldap://.',
  tls_untrusted: 'Give the authority that issued the certificate: --ca-file (caCertificate).',
  tls_name_mismatch: 'Use the host name in the certificate, or get a certificate for this name.',
  tls_expired: 'Renew the certificate, or correct the clock of this machine.',
  tls_missing: 'Check the port, and that the directory speaks TLS 1.2 or later there.',
  unreachable: elsewhere,
  closed: 'Look in the log of the directory why it closes the connection.',
  malformed: 'Check the port: the server there does not answer in LDAP.',
  starttls_refused: 'Set TLS up in the directory, or use ldaps://.',
  busy: 'Try again later.',
};

/** Why the sign-in is refused after the directory has accepted the password. */
export const refusalWords: Partial<Record<Reason, Words>> = {
  email_missing: {
    seen: 'the entry has no usable e-mail address',
    hint: 'Give the entry an address, or name another attribute: --email-attribute.',
  },
  email_domain_not_verified: {
    seen: 'no address of the entry is on a domain that the organization has verified',
    hint: [
      'Verify the domain, or correct the address in the directory.',
      { to: 'add the domain', operation: 'domain.add' },
    ],
  },
  identity_conflict: {
    seen: 'the account of the address is linked to another entry, of this server or another',
    hint: [
      { to: 'see the linked identities', operation: 'identity.list' },
      { to: 'remove them', operation: 'identity.unlink' },
      { say: 'if the server changed', operation: 'ldap.relink' },
    ],
  },
  owner_not_approved: {
    seen: 'the person is an owner, and no owner has approved where this connection points',
    hint: { say: 'An owner approves it', operation: 'ldap.approve' },
  },
  deactivated: {
    seen: 'the person was removed from the organization',
    hint: { say: 'Add them again', operation: 'member.add', with: { role: 'member' } },
  },
  account_disabled: {
    seen: 'the account is disabled in idctl',
    hint: { say: 'The operator can enable it', operation: 'user.enable' },
  },
};

/** Searches as the service account of the trial. */
export type Ask = (query: DirectoryQuery) => ReturnType<DirectoryClient['search']>;

/** A finding for a directory's refusal. `seen` replaces the sentence of the reason. */
export function refusedWith(
  { reason, code }: { reason: DirectoryReason; code: number },
  seen = reasonWords[reason].seen,
): Finding<never> {
  return wrong(`${seen} (LDAP result code ${code})`, reasonWords[reason].hint);
}

/** Where and why the connection to a directory failed. Throws any other error again. */
export function unreached(error: unknown): { at: DirectoryStage; finding: Finding<never> } {
  if (!(error instanceof Refusal) || error.kind !== 'upstream') throw error;
  const { message: seen, failure } = error;
  if (error.code === 'outbound_refused') {
    const at = failure?.reason === 'plaintext' ? 'TLS' : 'name';
    return { at, finding: wrong(seen, error.hint ?? failureHints.unreachable) };
  }
  if (failure === undefined || !('at' in failure)) throw error;
  return { at: failure.at, finding: wrong(seen, failureHints[failure.reason]) };
}
