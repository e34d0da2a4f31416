/** Hashes and checks passwords with argon2id, a bounded number at once. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** Whether the password is the one hashed; with no hash, spends the same time and answers false. */
  verify(hash: string | null, password: string): Promise<boolean>;
  /** Whether the hash was made with other parameters than those configured now. */
  needsRehash(hash: string): boolean;
}
