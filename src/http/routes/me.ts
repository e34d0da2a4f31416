import { z } from 'zod';
import { changePassword } from '../../services/accounts/change-password.ts';
import { showMe, updateMe } from '../../services/accounts/me.ts';
import { changePasswordInput, meView, updateMeInput } from '../../services/accounts/schema.ts';
import { listSessions } from '../../services/sessions/list.ts';
import { revokeSession } from '../../services/sessions/revoke.ts';
import { listOwnSessionsInput, revokeSessionInput, sessionPage } from '../../services/sessions/schema.ts';
import { route } from '../route.ts';

/** What belongs to the person who asks. */
export const meRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/me',
    summary: 'The person signed in, with their organizations',
    access: 'me.see',
    input: z.strictObject({}),
    output: meView,
    run: showMe,
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/me',
    summary: 'Change name or locale',
    access: 'me.change',
    input: updateMeInput,
    output: meView,
    run: updateMe,
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
