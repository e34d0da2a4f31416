import { authenticate } from '../services/people/authentication/authenticate.ts';
import { accountPages } from './pages/account/forms.ts';
import { directoryPages } from './pages/login/directory.ts';
import { forwardPage } from './pages/login/forward.ts';
import { acceptPage } from './pages/login/invitation.ts';
import { mailCodePages } from './pages/login/mail-code.ts';
import { resetPages } from './pages/login/reset.ts';
import { signInPages } from './pages/login/sign-in.ts';
import { signUpPages } from './pages/login/sign-up.ts';
import { logoutPages } from './pages/logout.ts';
import { activityPages } from './pages/organization/activity.ts';
import { mappingPages } from './pages/organization/directory/mappings.ts';
import { scimPages } from './pages/organization/directory/overview.ts';
import { pushedPages } from './pages/organization/directory/pushed.ts';
import { invitationPages } from './pages/organization/invitations.ts';
import { organizationPage } from './pages/organization/overview.ts';
import { peoplePage } from './pages/organization/people.ts';
import { personPages } from './pages/organization/person.ts';
import { projectListPages } from './pages/organization/projects/list.ts';
import { projectPages } from './pages/organization/projects/project.ts';
import { settingsPages } from './pages/organization/settings/overview.ts';
import { webhookPages } from './pages/organization/settings/webhook.ts';
import { domainPages } from './pages/organization/sign-in/domains.ts';
import { ldapPages } from './pages/organization/sign-in/ldap.ts';
import { signInSettingsPages } from './pages/organization/sign-in/overview.ts';
import { ssoPages } from './pages/organization/sign-in/sso.ts';
import type { Page } from './pages/page.ts';
import { operationRoutes } from './routes/list.ts';
import { referenceRoutes } from './routes/reference.ts';
import type { Surface } from './server.ts';

/** Every page and every form. */
export const pages: Page[] = [
  ...signInPages,
  ...directoryPages,
  ...mailCodePages,
  ...signUpPages,
  ...resetPages,
  acceptPage,
  forwardPage,
  ...accountPages,
  organizationPage,
  ...activityPages,
  peoplePage,
  // Before the pages of a person, whose path would match too.
  ...invitationPages,
  ...personPages,
  ...projectListPages,
  ...projectPages,
  ...signInSettingsPages,
  ...domainPages,
  ...ssoPages,
  ...ldapPages,
  ...scimPages,
  ...pushedPages,
  ...mappingPages,
  ...settingsPages,
  ...webhookPages,
  ...logoutPages,
];

/** All routes and pages of idctl. */
export const surface: Surface = {
  routes: [...operationRoutes, ...referenceRoutes(operationRoutes)],
  pages,
  authenticate,
};
