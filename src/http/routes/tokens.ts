import {
  createToken,
  listTokens,
  regenerateToken,
  revokeToken,
} from '../../services/people/tokens/operations.ts';
import { listAdminTokens } from '../../services/tenancy/memberships/operations.ts';

import { route } from '../route.ts';

/** Personal access tokens (spec §2.7). */
export const tokenRoutes = [
  route('GET', '/api/v1/me/tokens', listTokens, {
    summary: 'Your tokens, without their values',
    cli: 'pat list',
  }),
  route('POST', '/api/v1/me/tokens', createToken, {
    summary: 'Create a token; its value is shown only once',
    dryRun: true,
    status: 201,
    cli: 'pat create',
  }),
  route('POST', '/api/v1/me/tokens/:id/regenerate', regenerateToken, {
    summary: 'Give a token a new value; the old one stops immediately',
    dryRun: true,
    cli: 'pat regenerate',
  }),
  route('DELETE', '/api/v1/me/tokens/:id', revokeToken, {
    summary: 'Revoke a token for good',
    cli: 'pat revoke',
  }),
  route('GET', '/api/v1/orgs/:org/tokens', listAdminTokens, {
    summary: "The members' tokens of scope admin, without their values",
    cli: 'pat list',
  }),
];
