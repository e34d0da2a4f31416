import type { KeyCanary } from '../../database/models/key-canary.ts';
import type { SigningKey } from '../../database/models/signing-key.ts';

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

/** The master key, of which the database knows the id alone. */
export function viewMasterKey({ keyId, createdAt }: KeyCanary) {
  const state = 'seals' as const;
  return {
    id: keyId,
    purpose: 'master' as const,
    state,
    createdAt: createdAt.toISOString(),
    retiredAt: null,
  };
}
