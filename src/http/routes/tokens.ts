import { createToken } from '../../services/people/tokens/create.ts';
import { listTokens } from '../../services/people/tokens/list.ts';
import { regenerateToken } from '../../services/people/tokens/regenerate.ts';
import { revokeToken } from '../../services/people/tokens/revoke.ts';
import {
  createOwnTokenInput,
  listOwnTokensInput,
  newTokenView,
  ownTokenInput,
  tokenPage,
} from '../../services/people/tokens/schema.ts';
import { listAdminTokens } from '../../services/tenancy/memberships/admin-tokens.ts';
import { route } from '../route.ts';

/** Personal access tokens (spec §2.7). */
export const tokenRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/me/tokens',
    summary: 'Your tokens, without their values',
    access: 'me.see',
    input: listOwnTokensInput,
    output: tokenPage,
    cli: 'pat list',
    run: listTokens,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/tokens',
    summary: 'Create a token; its value is shown this once',
    access: 'me.credentials',
    input: createOwnTokenInput,
    output: newTokenView,
    status: 201,
    cli: 'pat create',
    run: createToken,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/tokens/:id/regenerate',
    summary: 'Give a token a new value; the old one stops at once',
    access: 'me.credentials',
    input: ownTokenInput,
    output: newTokenView,
    cli: 'pat regenerate',
    run: regenerateToken,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/me/tokens/:id',
    summary: 'Revoke a token for good',
    access: 'me.credentials',
    input: ownTokenInput,
    cli: 'pat revoke',
    run: revokeToken,
  }),
  route('GET', '/api/v1/orgs/:org/tokens', listAdminTokens, {
    summary: "The members' tokens of scope admin, without their values",
    cli: 'pat list',
  }),
];
