import { column, rowOf } from './columns.ts';

/** A key of this instance for SAML providers (security S11). */
export class SamlKey extends rowOf('saml_keys', {
  /** The SHA-256 fingerprint of the certificate, in hexadecimal. */
  id: column.key(column.string()),
  use: column.string<'signing' | 'encryption'>(),
  /** As PEM. */
  certificate: column.string(),
  /** Sealed. */
  privateKey: column.string(),
  createdAt: column.date(),
  /** When our metadata leaves the key out, and it stops signing. May be in the future. */
  retiredAt: column.optional(column.date()),
}) {}
