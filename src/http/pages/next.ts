import { type Next, type OperationName, partsOf } from '../../next.ts';

/** The page on which a person runs an operation, and the text of the link to it. */
export const operationPages: Partial<Record<OperationName, { href: string; text: string }>> = {
  'passkey.list': { href: '/#passkeys', text: 'Your passkeys' },
  'pat.create': { href: '/#tokens', text: 'Your access tokens' },
  'totp.enroll': { href: '/#two-factor', text: 'Set up an authenticator' },
};

/** The links to the pages of the operations that a hint names. */
export function linksFor(next: Next | undefined): { href: string; text: string }[] {
  return partsOf(next).flatMap((part) => {
    const page =
      typeof part === 'object' && 'operation' in part ? operationPages[part.operation] : undefined;
    return page === undefined ? [] : [page];
  });
}
