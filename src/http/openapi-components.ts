import { z } from 'zod';
import { refusals } from '../errors.ts';
import { nextParts } from '../next.ts';

const { $schema: _, ...next } = z.toJSONSchema(nextParts, { io: 'output' });

const problemSchema = {
  type: 'object',
  description: 'A problem object (RFC 9457): what happened, and what to do next.',
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  properties: {
    type: { type: 'string', description: 'urn:idctl:problem: followed by the code' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: [...Object.keys(refusals), 'internal_error'] },
    hint: { type: 'string', description: 'What to do next, as text' },
    next,
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      description: 'The refused fields, if the refusal is about fields',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
      maxItems: 20,
    },
    moreErrors: {
      type: 'integer',
      description: 'The number of further wrong fields, at least; a refusal names 20',
    },
  },
};

const problemResponse = {
  description: 'Refused. The code names the reason.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

const oauthErrorSchema = {
  type: 'object',
  description: 'An OAuth error (RFC 6749 §5.2).',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
};

const oauthErrorResponse = {
  description: 'Refused. The error names the reason.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/OAuthError' } } },
};

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A personal access token, a bot token or a session token',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  session: { type: 'apiKey', in: 'cookie', name: 'access_token' },
  client: { type: 'http', scheme: 'basic', description: 'The client id and secret of an app' },
};

/** The shared parts of the document: the forms of refusals, and the kinds of credentials. */
export const components = {
  schemas: { Problem: problemSchema, OAuthError: oauthErrorSchema },
  responses: { Problem: problemResponse, OAuthError: oauthErrorResponse },
  securitySchemes,
};
