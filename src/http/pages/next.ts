import type { Actor } from '../../context.ts';
import { type Next, type OperationName, partsOf } from '../../next.ts';
import { fillPath, pathKeys } from '../route.ts';

/**
 * The page on which a person runs an operation, and the text of the link to it. A `:key` is an
 * argument of the operation.
 */
export const operationPages: Partial<Record<OperationName, { href: string; text: string }>> = {
  'client.add-redirect': {
    href: '/orgs/:org/applications/:client',
    text: 'Change the application',
  },
  'client.list': { href: '/orgs/:org/applications', text: 'Applications' },
  'client.make-confidential': {
    href: '/orgs/:org/applications/:client',
    text: 'Change the application',
  },
  'client.remove': { href: '/orgs/:org/applications/:client', text: 'The application' },
  'client.rotate': { href: '/orgs/:org/applications/:client/rotate', text: 'New secret' },
  'client.set': { href: '/orgs/:org/applications/:client', text: 'Change the application' },
  'domain.add': { href: '/orgs/:org/sign-in', text: 'Domains' },
  'domain.list': { href: '/orgs/:org/sign-in', text: 'Domains' },
  'domain.verify': { href: '/orgs/:org/sign-in', text: 'Domains' },
  'invitation.create': { href: '/orgs/:org/people/invite', text: 'Invite people' },
  'invitation.list': { href: '/orgs/:org/invitations', text: 'Invitations' },
  'ldap.approve': { href: '/#connections', text: 'Connections to approve' },
  'ldap.create': { href: '/orgs/:org/sign-in/ldap/set', text: 'Connect your directory' },
  'ldap.test': { href: '/orgs/:org/sign-in/ldap', text: 'Your directory' },
  'mappings.list': { href: '/orgs/:org/directory/mappings', text: 'Roles for groups' },
  'member.remove': { href: '/orgs/:org/people', text: 'People' },
  'member.role': { href: '/orgs/:org/people', text: 'People' },
  'passkey.list': { href: '/#passkeys', text: 'Your passkeys' },
  'pat.create': { href: '/#tokens', text: 'Your access tokens' },
  'project-member.add': { href: '/orgs/:org/projects/:project', text: 'The project' },
  'project-member.role': { href: '/orgs/:org/projects/:project', text: 'The project' },
  'project.list': { href: '/orgs/:org/projects', text: 'Projects' },
  'scim.groups': { href: '/orgs/:org/directory/groups', text: 'Groups from your directory' },
  'scim.log': { href: '/orgs/:org/directory/requests', text: 'Requests of your directory' },
  'scim.token.rotate': { href: '/orgs/:org/directory', text: 'The SCIM token' },
  'setup-link.list': { href: '/orgs/:org/settings/setup-links', text: 'Setup links' },
  'signin.show': { href: '/orgs/:org/sign-in', text: 'Sign-in settings' },
  'sso.approve': { href: '/#connections', text: 'Connections to approve' },
  'sso.attempts': { href: '/orgs/:org/sign-in/sso', text: 'Single sign-on' },
  'sso.create': { href: '/orgs/:org/sign-in/sso', text: 'Connect your provider' },
  'sso.test': { href: '/orgs/:org/sign-in/sso', text: 'Single sign-on' },
  'totp.enroll': { href: '/#two-factor', text: 'Set up an authenticator' },
  'webhook.deliveries': { href: '/orgs/:org/settings/webhooks/:id', text: 'The webhook' },
  'webhook.enable': { href: '/orgs/:org/settings/webhooks/:id', text: 'The webhook' },
  'webhook.list': { href: '/orgs/:org/settings', text: 'Webhooks' },
};

/**
 * The links to the pages of the operations that a hint names, each page once. The text is the
 * sentence of the hint, if it is a whole one. A setup link does not open these pages.
 */
export function linksFor(next: Next | undefined, actor?: Actor): { href: string; text: string }[] {
  if (actor?.kind === 'setupLink') return [];
  const links = partsOf(next).flatMap((part) => {
    if (typeof part === 'string' || !('operation' in part)) return [];
    const page = operationPages[part.operation];
    const given: Record<string, string | undefined> = part.with ?? {};
    const keys = pathKeys(page?.href ?? '');
    if (page === undefined || keys.some((key) => given[key] === undefined)) return [];
    const href = fillPath(page.href, given);
    // A step that continues a sentence, such as "then", is not the text of a link.
    const text = part.say !== undefined && !/^\p{Ll}/u.test(part.say) ? part.say : page.text;
    return [{ href, text }];
  });
  return links.filter(({ href }, at) => links.findIndex((each) => each.href === href) === at);
}
