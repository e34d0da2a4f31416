import { z } from 'zod';
import { meView, updateMeInput } from '../../services/people/accounts/schema.ts';
import { changePassword } from '../../services/people/credentials/operations.ts';
import { listSessions, revokeSession } from '../../services/people/sessions/operations.ts';
import { showMe, updateMe } from '../../services/tenancy/profile/me.ts';
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
  route('POST', '/api/v1/me/password', changePassword, {
    summary: 'Change the password, which takes the current one; all other sessions end',
  }),
  route('GET', '/api/v1/me/sessions', listSessions, {
    summary: 'The live sessions of the person signed in',
  }),
  route('DELETE', '/api/v1/me/sessions/:id', revokeSession, {
    summary: 'End one session',
  }),
];
