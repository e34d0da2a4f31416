import { changePasswordInput } from '../../services/people/accounts/schema.ts';
import { changePassword } from '../../services/people/credentials/change-password.ts';
import { listSessions } from '../../services/people/sessions/list.ts';
import { revokeSession } from '../../services/people/sessions/revoke.ts';
import {
  listOwnSessionsInput,
  revokeSessionInput,
  sessionPage,
} from '../../services/people/sessions/schema.ts';
import { showMe, updateMe } from '../../services/tenancy/profile/operations.ts';
import { route } from '../route.ts';

/** What belongs to the person who asks. */
export const meRoutes = [
  route('GET', '/api/v1/me', showMe, {
    summary: 'The person signed in, with their organizations',
  }),
  route('PATCH', '/api/v1/me', updateMe, {
    summary: 'Change name or locale',
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/password',
    summary: 'Change the password, which takes the current one; all other sessions end',
    access: 'me.credentials',
    input: changePasswordInput,
    run: changePassword,
  }),
  route({
    method: 'GET',
    path: '/api/v1/me/sessions',
    summary: 'The live sessions of the person signed in',
    access: 'sessions.see',
    input: listOwnSessionsInput,
    output: sessionPage,
    run: listSessions,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/me/sessions/:id',
    summary: 'End one session',
    access: 'sessions.end',
    input: revokeSessionInput,
    run: revokeSession,
  }),
];
