import { type Next, type OperationName, partsOf } from '../../next.ts';
import { pathKeys } from '../route.ts';

/**
 * The page on which a person runs an operation, and the text of the link to it. A `:key` is an
 * argument of the operation.
 */
export const operationPages: Partial<Record<OperationName, { href: string; text: string }>> = {
  'invitation.create': { href: '/orgs/:org/people/invite', text: 'Invite people' },
  'invitation.list': { href: '/orgs/:org/invitations', text: 'Invitations' },
  'member.remove': { href: '/orgs/:org/people', text: 'People' },
  'member.role': { href: '/orgs/:org/people', text: 'People' },
  'passkey.list': { href: '/#passkeys', text: 'Your passkeys' },
  'pat.create': { href: '/#tokens', text: 'Your access tokens' },
  'totp.enroll': { href: '/#two-factor', text: 'Set up an authenticator' },
};

/** The links to the pages of the operations that a hint names. The text is its sentence, if any. */
export function linksFor(next: Next | undefined): { href: string; text: string }[] {
  return partsOf(next).flatMap((part) => {
    if (typeof part === 'string' || !('operation' in part)) return [];
    const page = operationPages[part.operation];
    const given: Record<string, string | undefined> = part.with ?? {};
    const keys = pathKeys(page?.href ?? '');
    if (page === undefined || keys.some((key) => given[key] === undefined)) return [];
    const href = page.href.replace(/:(\w+)/g, (_, key: string) =>
      encodeURIComponent(given[key] ?? ''),
    );
    return [{ href, text: part.say ?? page.text }];
  });
}
