import { Op } from 'sequelize';
import { column, rowOf } from './columns.ts';

/**
 * The proof of an account's e-mail address (security I3). `auto` is set by an instance that does
 * not send mail: the address is shown as verified, but this is not a proof. `former domain`: an
 * organization that has since given up the domain proved the address. The next owner does not trust
 * this proof.
 */
export const emailProofs = [
  'none',
  'auto',
  'mail',
  'domain',
  'former domain',
  'operator',
  'social',
] as const;
/** One of `emailProofs`. */
export type EmailProof = (typeof emailProofs)[number];

/** The default language of an account. */
export const defaultLocale = 'en';

/** One person on the instance. */
export class Account extends rowOf(
  'accounts',
  {
    id: column.key(),
    /** In canonical form. Null for a provisioned person without an address. */
    email: column.optional(column.string()),
    emailProof: column.string<EmailProof>(),
    name: column.string(),
    locale: column.withDefault(column.string(), defaultLocale),
    /** The argon2id hash, or null if the account has no password. */
    passwordHash: column.optional(column.string()),
    /** Whether the password was set in a session with the mark `unapproved` (security I8). */
    passwordUnapproved: column.withDefault(column.flag(), false),
    disabledAt: column.optional(column.date()),
    /** Sealed. Set from the start of enrolment until the authenticator app is turned off. */
    totpSecret: column.optional(column.string()),
    totpStartedAt: column.optional(column.date()),
    /** When a code confirmed the secret. From then on, sign-in asks for a second factor. */
    totpEnabledAt: column.optional(column.date()),
    /** The last time step with an accepted code: a code is accepted only once (RFC 6238 §5.2). */
    totpLastStep: column.optional(column.integer()),
    /**
     * The organization whose provider was the only proof when the authenticator app was enrolled;
     * else null (security P12).
     */
    totpVouchedBy: column.optional(column.uuid()),
    /** Whether the authenticator was enrolled in a session with the mark `unapproved` (security I8). */
    totpUnapproved: column.withDefault(column.flag(), false),
    /** Whether the account has passkeys. Only `people/passkeys` writes this, with the passkeys. */
    hasPasskey: column.withDefault(column.flag(), false),
    /** Whether recovery codes are left. Only `people/codes` writes this, with the codes. */
    hasRecoveryCodes: column.withDefault(column.flag(), false),
    /** When a sign-up last replaced this account, if its address is unverified (security P11). */
    signUpReplacedAt: column.optional(column.date()),
    /**
     * Whether the account waits for the code mailed at sign-up. Until then, no setting shows its
     * address as verified (security I3).
     */
    awaitsCode: column.withDefault(column.flag(), false),
    createdAt: column.date(),
  },
  (dialect) => [
    column.unique('accounts_email', ['email']),
    column.index('accounts_unproved', ['id'], {
      email_proof: 'none',
      password_hash: { [Op.ne]: null },
    }),
    // A sealed value begins with the id of its key. In byte order, one key's values are adjacent.
    column.index(
      'accounts_sealed',
      [{ name: 'totp_secret', collate: dialect === 'sqlite' ? 'BINARY' : 'C' }],
      { totp_secret: { [Op.ne]: null } },
    ),
  ],
) {}

/** Whether sign-in asks the account for a second factor: an authenticator app or a passkey. */
export function hasSecondFactor({
  totpEnabledAt,
  hasPasskey,
}: Pick<Account, 'totpEnabledAt' | 'hasPasskey'>): boolean {
  return totpEnabledAt !== null || hasPasskey;
}

/**
 * Whether a session passed the second factor that the account has now. A code of a replaced
 * authenticator does not count (security P15).
 */
export function passedCurrentFactor(
  { secondFactorAt }: { secondFactorAt: Date | null },
  { totpEnabledAt }: Pick<Account, 'totpEnabledAt'>,
): boolean {
  return secondFactorAt !== null && (totpEnabledAt === null || secondFactorAt >= totpEnabledAt);
}

/** Whether the address was proved to be the account's; `auto` is not a proof (security I3). */
export function isProved({ emailProof }: Pick<Account, 'emailProof'>): boolean {
  return emailProof !== 'none' && emailProof !== 'auto';
}

/** Whether the proof still counts. A proof by a former owner of the domain does not. */
export function isProvedForGood(account: Pick<Account, 'emailProof'>): boolean {
  return isProved(account) && account.emailProof !== 'former domain';
}
