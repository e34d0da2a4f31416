import type { Named } from './resource.ts';
import { nameOf } from './resource.ts';

/** What the client calls the person: their name, else what their userName begins with. */
export function calledBy(resource: Named): string {
  const { userName } = resource;
  const local = userName.split('@')[0] ?? '';
  return (
    nameOf(resource) ?? nameOf({ displayName: local }) ?? nameOf({ displayName: userName }) ?? '-'
  );
}
