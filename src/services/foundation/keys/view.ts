import { z } from 'zod';
import type { KeyCanary } from '../../../database/models/key-canary.ts';
import type { SigningKey } from '../../../database/models/signing-key.ts';
import { instant } from '../fields.ts';
import { pageOf } from '../page.ts';

export const keyView = z.object({
  id: z.string(),
  purpose: z.enum(['master', 'signing']),
  /**
   * A master key seals, and later only opens. A signing key waits until every daemon knows it, and
   * then signs. After that it only verifies, until its last token has expired.
   */
  state: z.enum(['seals', 'opens', 'waits', 'signs', 'verifies']),
  createdAt: instant,
  retiredAt: instant.nullable(),
});
export const keyPage = pageOf(keyView);
export const newKeyView = keyView.extend({ signsFrom: instant });

/**
 * The result of a rotation: it made a key, added one to the file, or finished an interrupted
 * rotation.
 */
export const newMasterKeyView = z.object({
  id: z.string(),
  state: z.enum(['rotated', 'prepared', 'finished']),
  former: z.string().nullable(),
  resealed: z.int(),
});

/** A signing key without its halves, with its state among the others. */
export function viewSigningKey(key: SigningKey, state: 'waits' | 'signs' | 'verifies') {
  return {
    id: key.id,
    purpose: 'signing' as const,
    state,
    createdAt: key.createdAt.toISOString(),
    retiredAt: key.retiredAt?.toISOString() ?? null,
  };
}

/** A master key, known to the database only by its id. It seals, or only opens. */
export function viewMasterKey({ keyId, createdAt }: KeyCanary, state: 'seals' | 'opens') {
  return {
    id: keyId,
    purpose: 'master' as const,
    state,
    createdAt: createdAt.toISOString(),
    retiredAt: null,
  };
}
