import type { SignInMethod } from '../../../database/models/session.ts';

/** What happened to an account, for a mail to its person. */
export type Notice =
  | { what: 'password-changed' }
  /** `withCodes`: the account got its first recovery codes too. */
  | { what: 'authenticator-added'; withCodes: boolean }
  /** `codesEnded`: it was the last second factor, so the recovery codes ended too. */
  | { what: 'authenticator-removed'; codesEnded: boolean }
  | { what: 'passkey-added'; name: string; withCodes: boolean }
  | { what: 'passkey-removed'; name: string }
  /** `by`: the name of the organization that did it, or null for the operator. */
  | { what: 'second-factor-reset'; by: string | null }
  | { what: 'recovery-code-used'; remaining: number }
  | { what: 'recovery-codes-made' }
  /** Whether the mail goes to the old or the new address. */
  | { what: 'address-changed'; address: 'old' | 'new' }
  /** `provider`: its name for people. */
  | { what: 'social-linked'; provider: string }
  /** `regenerated`: the token got a new value. */
  | { what: 'admin-token-made'; name: string; regenerated: boolean }
  /** `by`: the address that the setup link was for. */
  | { what: 'setup-finished'; organization: string; by: string | null }
  | { what: 'new-browser'; method: SignInMethod };

/** A notice to mail. */
export interface NoticeMailing {
  about: 'notice';
  email: string;
  notice: Notice;
  /** The request of the account's holder; null if an administrator acted. */
  from: { address: string | null; userAgent: string | null } | null;
}
