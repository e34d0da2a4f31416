/** The time and size limits of a request. */
export interface Limits {
  /** Milliseconds until the connection is open, including TLS. */
  connect: number;
  /** Milliseconds until a directory answers an operation. */
  operation: number;
  /** Milliseconds until the last byte of the body. */
  total: number;
  /** The maximum number of bytes of a body, both compressed and decompressed. */
  body: number;
}

/**
 * Security S9, L5: connect ≤ 3 s (undici's timer can be 0.5 s late), operation ≤ 5 s, total ≤ 10 s,
 * body ≤ 1 MiB.
 */
export const defaultLimits: Limits = {
  connect: 2_500,
  operation: 5_000,
  total: 10_000,
  body: 1024 * 1024,
};
