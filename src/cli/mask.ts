/** A setting's value as it may be shown: of a URL all but the password. */
export function masked(value: string): string {
  return value.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1:***@');
}
