import { z } from 'zod';
import { emailProofs } from '../../../database/models/account.ts';
import type { Identity } from '../../../database/models/identity.ts';
import type { Invitation } from '../../../database/models/invitation.ts';
import type { Organization } from '../../../database/models/organization.ts';
import type { SetupLink } from '../../../database/models/setup-link.ts';
import { eventView } from '../../foundation/events/view.ts';
import { id, instant, projectRole, role, viewOf } from '../../foundation/fields.ts';
import { userView } from '../../people/accounts/account.ts';
import { appView } from '../../people/apps/app.ts';
import { passkeyView } from '../../people/passkeys/passkey.ts';
import { sessionView } from '../../people/sessions/operations.ts';
import { tokenView } from '../../people/tokens/token.ts';
import { recoveryCodesView } from '../../people/two-factor/recovery-codes.ts';
import { identityView } from '../../tenancy/identities/operations.ts';
import { originView } from '../../tenancy/memberships/membership.ts';
import { signedInView } from '../provider/operations.ts';

// The form of the document that a person downloads.

/** The maximum number of entries of each list; the newest ones, if there are more. */
export const maxEntries = 10_000;

const organization = z.object({ id, slug: z.string(), name: z.string() });

const accountView = userView.extend({
  emailProof: z.enum(emailProofs),
  hasPassword: z.boolean(),
  authenticatorSince: instant.nullable(),
  recoveryCodes: recoveryCodesView,
});
export const membershipView = z.object({
  organization,
  role,
  origin: originView,
  joinedAt: instant,
});
export const projectMembershipView = z.object({
  project: z.object({ id, organizationId: id, slug: z.string(), name: z.string() }),
  role: projectRole,
  origin: originView,
  joinedAt: instant,
});
export const storedSessionView = sessionView
  .omit({ current: true })
  .extend({ expiresAt: instant, endedAt: instant.nullable() });
export const browserView = z.object({
  firstSeenAt: instant,
  lastSeenAt: instant.describe('The last sign-in, to the day.'),
});
const storedIdentityView = identityView
  .omit({ former: true })
  .extend({ groups: z.array(z.string()).nullable() });
const storedInvitationView = z.object({
  id,
  organization,
  email: z.string(),
  role,
  createdAt: instant,
  expiresAt: instant,
  acceptedAt: instant.nullable(),
});
const storedSetupLinkView = z.object({
  id,
  organization: z.string().describe('The id of the organization.'),
  for: z.array(z.string()),
  email: z.string().nullable(),
  createdAt: instant,
  expiresAt: instant,
});
export const recordView = z.object({
  organization,
  userName: z.string(),
  externalId: z.string().nullable(),
  active: z.boolean(),
  createdAt: instant,
  modifiedAt: instant,
  resource: z.record(z.string(), z.unknown()).describe('The User as the SCIM client sent it.'),
});

export const exportView = z.object({
  exportedAt: instant,
  account: accountView,
  memberships: z.array(membershipView),
  formerMemberships: z.array(z.object({ organization, endedAt: instant })),
  projectMemberships: z.array(projectMembershipView),
  sessions: z.array(storedSessionView),
  browsers: z.array(browserView).describe('The browsers that signed in. A new one causes a mail.'),
  tokens: z.array(tokenView),
  apps: z.array(appView),
  passkeys: z.array(passkeyView),
  identities: z.array(storedIdentityView),
  applications: z.array(signedInView),
  invitationsSent: z.array(storedInvitationView),
  invitationsReceived: z.array(storedInvitationView),
  setupLinks: z.array(storedSetupLinkView).describe('The setup links that the person created.'),
  scimRecords: z.array(recordView),
  events: z
    .array(eventView)
    .describe(
      'Events that the person caused or that are about them: those outside organizations, and those of organizations where they are admin or owner.',
    ),
  truncated: z
    .array(z.string())
    .describe(`The lists that have more than ${maxEntries} entries. They contain the newest ones.`),
});

/** Whether the export has what the organization says about the person. */
export type Tells = (organizationId: string) => boolean;

export function viewIdentity(row: Identity, tells: Tells) {
  const told = row.organizationId === null || tells(row.organizationId);
  const groups = told ? (row.knownGroups ?? row.lastGroups) : null;
  return { ...viewOf(storedIdentityView, row), connection: row.connectionId, groups };
}

export function viewInvitation(row: Invitation) {
  return { ...viewOf(storedInvitationView, row), organization: viewOrganization(row.organization) };
}

export function viewSetupLink(row: SetupLink) {
  const { organizationId, parts } = row;
  return { ...viewOf(storedSetupLinkView, row), organization: organizationId, for: parts };
}

export function viewOrganization(row: Organization) {
  return viewOf(organization, row);
}
