/** How the groups that a connection sends count. */
export interface GroupRules {
  /** If false, the last known claim does not give a new role, and roles that it gave stay. */
  gives: boolean;
  /** Whether a role ends when the person leaves its group. Always false for directories. */
  autoRemove: boolean;
  /** Whether every sign-in applies the groups. If not, only the first; for a directory, none. */
  everyTime: boolean;
  /** The search base of a directory; null if the groups come from a claim. */
  searchBase: string | null;
}
