/** The member that tells of a suspension; what is not suspended has none. */
export function suspended({ suspendedAt }: { suspendedAt: Date | null }): { suspendedAt?: string } {
  return suspendedAt ? { suspendedAt: suspendedAt.toISOString() } : {};
}
