import { changePassword } from '../../services/people/credentials/operations.ts';
import { listSessions, revokeSession } from '../../services/people/sessions/operations.ts';
import { exportMe } from '../../services/signin/export/operations.ts';
import { endSignedIn, listSignedIn } from '../../services/signin/provider/operations.ts';
import { deleteMe } from '../../services/tenancy/profile/deletion.ts';
import { confirmEmail, requestEmail } from '../../services/tenancy/profile/email.ts';
import { showMe, updateMe } from '../../services/tenancy/profile/operations.ts';
import { clearedSession } from '../cookies.ts';
import { route } from '../route.ts';

/** The signed-in person's own account, password and sessions. */
export const meRoutes = [
  route('GET', '/api/v1/me', showMe, {
    summary: 'The signed-in person, with their organizations',
  }),
  route('PATCH', '/api/v1/me', updateMe, {
    summary: 'Change name or locale',
  }),
  route('GET', '/api/v1/me/export', exportMe, {
    summary: 'What is stored about your account, without secrets; five times an hour',
  }),
  route('DELETE', '/api/v1/me', deleteMe, {
    summary:
      'Delete your account; needs a recent sign-in, not through an organization alone (`session_required`). Refused for the last owner of an organization, and if an organization manages your address',
    cookies: clearedSession,
  }),
  route('POST', '/api/v1/me/password', changePassword, {
    summary: 'Change the password; needs the current password and ends all other sessions',
  }),
  route('POST', '/api/v1/me/email', requestEmail, {
    summary:
      'Mail a code to a new address of your account; needs a recent sign-in, not through an organization alone (`session_required`)',
    status: 202,
  }),
  route('POST', '/api/v1/me/email/confirm', confirmEmail, {
    summary:
      'Change your address with the mailed code; ends all other sessions. Needs a session that did not begin through an organization alone (`session_required`)',
  }),
  route('GET', '/api/v1/me/sessions', listSessions, {
    summary: 'The live sessions of the signed-in person',
    cli: 'session list',
  }),
  route('DELETE', '/api/v1/me/sessions/:id', revokeSession, {
    summary: 'End one session',
    cli: 'session revoke',
  }),
  route('GET', '/api/v1/me/clients', listSignedIn, {
    summary: 'The applications that you are signed in to',
  }),
  route('DELETE', '/api/v1/me/clients/:clientId', endSignedIn, {
    summary: 'Sign out of one application; your idctl session continues',
  }),
];
