import { authenticate } from '../services/people/authentication/authenticate.ts';
import { accountPages } from './pages/account/forms.ts';
import { directoryPages } from './pages/login/directory.ts';
import { forwardPage } from './pages/login/forward.ts';
import { acceptPage } from './pages/login/invitation.ts';
import { mailCodePages } from './pages/login/mail-code.ts';
import { resetPages } from './pages/login/reset.ts';
import { samlFormPage } from './pages/login/saml.ts';
import { signInPages } from './pages/login/sign-in.ts';
import { signUpPages } from './pages/login/sign-up.ts';
import { logoutPages } from './pages/logout.ts';
import { activityPages } from './pages/organization/activity.ts';
import { applicationPages } from './pages/organization/applications.ts';
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
import { setupLinkPages } from './pages/organization/setup-links.ts';
import { domainEndingPages, domainPages } from './pages/organization/sign-in/domains.ts';
import { ldapEndingPages, ldapPages } from './pages/organization/sign-in/ldap.ts';
import { showSignIn, signInSettingsPages } from './pages/organization/sign-in/overview.ts';
import { path as signInPath } from './pages/organization/sign-in/path.ts';
import { ssoEndingPages, ssoPages } from './pages/organization/sign-in/sso.ts';
import type { Page } from './pages/page.ts';
import { setupEntryPages } from './pages/setup/entry.ts';
import { setupPages } from './pages/setup/overview.ts';
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
  samlFormPage,
  ...accountPages,
  organizationPage,
  ...applicationPages,
  ...activityPages,
  peoplePage,
  // Before the pages of a person, whose path would match too.
  ...invitationPages,
  ...personPages,
  ...projectListPages,
  ...projectPages,
  ...signInSettingsPages,
  ...domainPages(signInPath, showSignIn),
  ...domainEndingPages,
  ...ssoPages(signInPath),
  ...ssoEndingPages,
  ...ldapPages(signInPath),
  ...ldapEndingPages,
  ...scimPages,
  ...pushedPages,
  ...mappingPages,
  ...settingsPages,
  ...webhookPages,
  ...setupLinkPages,
  ...setupPages,
  // After the pages behind a link: its path would match them too.
  ...setupEntryPages,
  ...logoutPages,
];

/** All routes and pages of idctl. */
export const surface: Surface = {
  routes: [...operationRoutes, ...referenceRoutes(operationRoutes)],
  pages,
  authenticate,
};
