import type { Named } from './resource.ts';
import { nameOf } from './resource.ts';

/** The client's name for the person: their name, else the beginning of their userName. */
export function calledBy(resource: Named): string {
  const { userName } = resource;
  const local = userName.split('@')[0] ?? '';
  return (
    nameOf(resource) ?? nameOf({ displayName: local }) ?? nameOf({ displayName: userName }) ?? '-'
  );
}
