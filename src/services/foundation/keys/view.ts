import { z } from 'zod';
import type { KeyCanary } from '../../../database/models/key-canary.ts';
import type { SigningKey } from '../../../database/models/signing-key.ts';
import { instant } from '../fields.ts';
import { pageOf } from '../page.ts';

export const keyView = z.object({
  id: z.string(),
  purpose: z.enum(['master', 'signing']),
  /**
   * A master key seals, and then only opens what it sealed. A signing key waits to be known
   * everywhere, signs, then only verifies until its last token has ended.
   */
  state: z.enum(['seals', 'opens', 'waits', 'signs', 'verifies']),
  createdAt: instant,
  retiredAt: instant.nullable(),
});
export const keyPage = pageOf(keyView);
export const newKeyView = keyView.extend({ signsFrom: instant });

/** What a rotation did: made a key, put one into the file, or finished one that was broken off. */
export const newMasterKeyView = z.object({
  id: z.string(),
  state: z.enum(['rotated', 'prepared', 'finished']),
  former: z.string().nullable(),
  resealed: z.int(),
});

/** A signing key without its halves, in the state that it is in among the others. */
export function viewSigningKey(key: SigningKey, state: 'waits' | 'signs' | 'verifies') {
  return {
    id: key.id,
    purpose: 'signing' as const,
    state,
    createdAt: key.createdAt.toISOString(),
    retiredAt: key.retiredAt?.toISOString() ?? null,
  };
}

/** A master key, known to the database by its id: it seals, or only opens what it sealed. */
export function viewMasterKey({ keyId, createdAt }: KeyCanary, state: 'seals' | 'opens') {
  return {
    id: keyId,
    purpose: 'master' as const,
    state,
    createdAt: createdAt.toISOString(),
    retiredAt: null,
  };
}
