import type { KeyCanary } from '../../../database/models/key-canary.ts';
import type { SigningKey } from '../../../database/models/signing-key.ts';

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

/** A master key, of which the database knows the id alone: it seals, or only opens what it sealed. */
export function viewMasterKey({ keyId, createdAt }: KeyCanary, state: 'seals' | 'opens') {
  return {
    id: keyId,
    purpose: 'master' as const,
    state,
    createdAt: createdAt.toISOString(),
    retiredAt: null,
  };
}
