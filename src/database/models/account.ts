import type { CreationOptional, Sequelize } from 'sequelize';
import {
  flag,
  index,
  instantColumn,
  integer,
  key,
  optional,
  Row,
  table,
  textColumn,
  unique,
  withDefault,
} from './columns.ts';

/**
 * Where the proof of an account's e-mail came from (security I3). `auto` is the word of an instance
 * that sends no mail: it reads as verified, and proves nothing. `former domain` is that of an organization
 * that has given the domain up: it holds until another one speaks for the domain.
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

/** The language of an account that nobody gave one. */
export const defaultLocale = 'en';

/** One person on the instance. */
export class Account extends Row<Account> {
  declare id: string;
  /** Canonical, or null for someone provisioned without an address. */
  declare email: string | null;
  declare emailProof: EmailProof;
  declare name: string;
  declare locale: CreationOptional<string>;
  /** The argon2id hash, or null when no password was ever set. */
  declare passwordHash: CreationOptional<string | null>;
  declare disabledAt: CreationOptional<Date | null>;
  /** Sealed; there from the start of an enrolment until the second factor is disabled. */
  declare totpSecret: CreationOptional<string | null>;
  declare totpStartedAt: CreationOptional<Date | null>;
  /** When a code confirmed the secret; from then on sign-in asks for one. */
  declare totpEnabledAt: CreationOptional<Date | null>;
  /** The last time step whose code was accepted: none is accepted twice (RFC 6238 §5.2). */
  declare totpLastStep: CreationOptional<number | null>;
  /** When somebody signed up last for an account that was there, and whose address nobody had proved (security P11). */
  declare signUpReplacedAt: CreationOptional<Date | null>;
  /** Whether the account waits for the code that was mailed at its sign-up: no setting confirms it (security I3). */
  declare awaitsCode: CreationOptional<boolean>;
  declare createdAt: Date;
}

/** Binds the model to the open database. */
export function initAccount(sequelize: Sequelize): void {
  Account.init(
    {
      id: key(),
      email: optional(textColumn()),
      emailProof: textColumn(),
      name: textColumn(),
      locale: withDefault(textColumn(), defaultLocale),
      passwordHash: optional(textColumn()),
      disabledAt: optional(instantColumn()),
      totpSecret: optional(textColumn()),
      totpStartedAt: optional(instantColumn()),
      totpEnabledAt: optional(instantColumn()),
      totpLastStep: optional(integer()),
      signUpReplacedAt: optional(instantColumn()),
      awaitsCode: withDefault(flag(), false),
      createdAt: instantColumn(),
    },
    table(sequelize, 'accounts', [
      unique('accounts_email', ['email']),
      index('accounts_unproved', ['id'], { email_proof: 'none' }),
    ]),
  );
}
