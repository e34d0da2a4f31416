/** The limits of a request, in time and size. */
export interface Limits {
  /** Milliseconds until the connection is open, TLS included. */
  connect: number;
  /** Milliseconds until a directory answers a question. */
  operation: number;
  /** Milliseconds until the last byte of the body. */
  total: number;
  /** Bytes of the body, compressed and decompressed alike. */
  body: number;
}

/**
 * Security S9, L5: connect ≤ 3 s (undici's timer is 0.5 s coarse), operation ≤ 5 s, total ≤ 10 s,
 * body ≤ 1 MiB.
 */
export const defaultLimits: Limits = {
  connect: 2_500,
  operation: 5_000,
  total: 10_000,
  body: 1024 * 1024,
};
