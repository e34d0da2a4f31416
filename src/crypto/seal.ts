/** Where a sealed value is stored; bound to it, so that a value moved to another row does not open. */
export interface Place {
  table: string;
  column: string;
  row: string;
}

/** Seals and opens secrets at rest with the master key. */
export interface Keyring {
  /** The id of the key that seals now. */
  readonly keyId: string;
  seal(plaintext: string, place: Place): string;
  /** Refuses `key_invalid` when the value was sealed by another key, for another place, or was altered. */
  open(sealed: string, place: Place): string;
  /** 32 bytes for one purpose, the same for every process with this master key. */
  derive(purpose: string): Buffer;
}
