/** The limits of a body, by its route (security X11). */
export interface BodyLimits {
  /** The size in bytes. */
  bytes: number;
  /** The number of JSON values. */
  values: number;
  /** The number of keys of each object. */
  keys: number;
}

/** The limits of a body that is neither a document nor a list of mappings. */
export const usualBody: BodyLimits = { bytes: 100 * 1024, values: 2000, keys: 100 };

/** The limits of a body with the metadata or an answer of a SAML provider (security S11). */
export const bodyOfSaml: BodyLimits = { ...usualBody, bytes: 512 * 1024 };

/** The maximum size of a form with the metadata of a SAML provider, which its encoding makes longer. */
export const bytesOfMetadataForm = 1024 * 1024;

/** The limits of a body with mappings. Ten thousand fit. */
export const bodyOfMappings: BodyLimits = { bytes: 8 * 1024 * 1024, values: 100_000, keys: 100 };

/** The limits of a body with a document. Ten thousand entries of each section fit. */
export const bodyOfDocument: BodyLimits = { ...bodyOfMappings, values: 400_000, keys: 1000 };
