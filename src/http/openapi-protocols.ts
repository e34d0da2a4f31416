// The endpoints of the protocols: SCIM, the OpenID provider and forward auth. Their standards define
// the messages, so that this part of the API document names only the operations and the answers.

type Json = Record<string, unknown>;

const text = { type: 'string' };
const resource = { type: 'object', additionalProperties: true };

/** The tags of these operations. */
export const protocolTags = ['scim', 'openid', 'forward auth'] as const;

interface Described {
  summary: string;
  tag: (typeof protocolTags)[number];
  description?: string;
  parameters?: Json[];
  requestBody?: Json;
  responses: Json;
  security?: Json[];
}

function operation(id: string, { tag, ...described }: Described): Json {
  return { operationId: id, tags: [tag], security: [], ...described };
}

const inPath = (name: string, description: string) => {
  return { name, in: 'path', required: true, description, schema: text };
};
const inQuery = (name: string, description: string, required = false) => {
  return { name, in: 'query', required, description, schema: text };
};

/** The paths of the protocols, in the form of an API document. */
export function describeProtocols(): Record<string, Json> {
  return { ...scimPaths(), ...providerPaths, ...forwardAuthPaths };
}

const scimError = {
  description: 'Refused, with the error of RFC 7644 §3.12.',
  content: { 'application/scim+json': { schema: resource } },
};
const scimRefusals = { '4XX': scimError, '5XX': scimError };
const scimBody = (description: string) => {
  return {
    description,
    required: true,
    content: { 'application/scim+json': { schema: resource } },
  };
};
const scimAnswer = (description: string) => {
  return { description, content: { 'application/scim+json': { schema: resource } } };
};

const listing = [
  inQuery('filter', 'A filter (RFC 7644 §3.4.2.2)'),
  inQuery('startIndex', 'The first resource; counts from 1'),
  inQuery('count', 'The resources of a page; at most 200'),
  inQuery('sortBy', 'The attribute to sort by'),
  inQuery('sortOrder', '`ascending` or `descending`'),
];
const projection = [
  inQuery('attributes', 'The attributes to return'),
  inQuery('excludedAttributes', 'The attributes to leave out'),
];

function scimPaths(): Record<string, Json> {
  const base = '/scim/v2/orgs/{orgId}';
  const org = inPath('orgId', 'The id of the organization');
  const scim = (id: string, summary: string, more: Omit<Described, 'summary' | 'tag'>): Json =>
    operation(`scim${id}`, {
      summary,
      tag: 'scim',
      description: 'Needs the SCIM token of the organization (RFC 7644).',
      security: [{ bearer: [] }],
      ...more,
      parameters: [org, ...(more.parameters ?? [])],
      responses: { ...more.responses, ...scimRefusals },
    });
  const read = (id: string, summary: string, parameters: Json[] = []): Json =>
    scim(id, summary, { parameters, responses: { 200: scimAnswer('The resource or list') } });
  const search = (id: string, of: string): Json => {
    const requestBody = scimBody('A search request (RFC 7644 §3.4.3)');
    const responses = { 200: scimAnswer('The list') };
    return { post: scim(id, `Search ${of}`, { requestBody, responses }) };
  };
  const collection = (name: 'User' | 'Group', id: Json): Record<string, Json> => ({
    [`${base}/${name}s`]: {
      get: read(`List${name}s`, `List ${name}s`, [...listing, ...projection]),
      post: scim(`Create${name}`, `Create a ${name}`, {
        parameters: projection,
        requestBody: scimBody(`The ${name}`),
        responses: { 201: scimAnswer(`The ${name}`) },
      }),
    },
    [`${base}/${name}s/.search`]: search(`Search${name}s`, `${name}s`),
    [`${base}/${name}s/{id}`]: {
      get: read(`Get${name}`, `Show a ${name}`, [id, ...projection]),
      put: scim(`Replace${name}`, `Replace a ${name}`, {
        parameters: [id, ...projection],
        requestBody: scimBody(`The ${name}`),
        responses: { 200: scimAnswer(`The ${name}`) },
      }),
      patch: scim(`Patch${name}`, `Change a ${name}`, {
        parameters: [id, ...projection],
        requestBody: scimBody('The operations (RFC 7644 §3.5.2)'),
        responses: { 200: scimAnswer(`The ${name}`), 204: { description: 'Changed (groups)' } },
      }),
      delete: scim(`Delete${name}`, name === 'User' ? 'Deactivate a User' : 'Delete a Group', {
        parameters: [id],
        responses: { 204: { description: 'Done' } },
      }),
    },
  });
  return {
    ...collection('User', inPath('id', 'The id of the User')),
    ...collection('Group', inPath('id', 'The id of the Group')),
    [`${base}/.search`]: search('Search', 'Users and Groups'),
    [`${base}/ServiceProviderConfig`]: { get: read('GetConfig', 'What this SCIM server supports') },
    [`${base}/ResourceTypes`]: { get: read('ListTypes', 'List the kinds of resources') },
    [`${base}/ResourceTypes/{type}`]: {
      get: read('GetType', 'Show a kind of resources', [inPath('type', '`User` or `Group`')]),
    },
    [`${base}/Schemas`]: { get: read('ListSchemas', 'List the schemas') },
    [`${base}/Schemas/{urn}`]: {
      get: read('GetSchema', 'Show a schema', [inPath('urn', 'The URN of the schema')]),
    },
  };
}

const authorization = [
  inQuery('response_type', '`code`', true),
  inQuery('client_id', 'The client id', true),
  inQuery('redirect_uri', 'One of the redirect URIs of the client', true),
  inQuery('scope', '`openid`, and any of `profile`, `email`, `groups`, `offline_access`', true),
  inQuery('state', 'Returned unchanged'),
  inQuery('nonce', 'Returned in the ID token'),
  inQuery('code_challenge', 'The PKCE challenge'),
  inQuery('code_challenge_method', '`S256`'),
  inQuery('response_mode', '`query` or `form_post`'),
  inQuery('prompt', '`none`, `login`, `consent` or `select_account`'),
  inQuery('max_age', 'The highest age of the sign-in, in seconds'),
  inQuery('login_hint', 'An e-mail address'),
  inQuery('id_token_hint', 'An ID token of the expected person'),
];
const logout = [
  inQuery('id_token_hint', 'An ID token of the session'),
  inQuery('client_id', 'The client id'),
  inQuery('post_logout_redirect_uri', 'An address that the client has registered'),
  inQuery('state', 'Returned unchanged'),
];
const page = { description: 'A page', content: { 'text/html': { schema: text } } };
const redirects = { 303: { description: 'Redirects the browser' }, 200: page, 400: page };

/** The same fields as parameters of a query, as a form. */
function formOf(parameters: Json[]): Json {
  const properties = Object.fromEntries(parameters.map(({ name }) => [String(name), text]));
  const schema = { type: 'object', properties };
  return { content: { 'application/x-www-form-urlencoded': { schema } } };
}

const userinfo = {
  summary: 'The claims of the person of an access token (OpenID Connect Core §5.3)',
  tag: 'openid' as const,
  description: 'Needs an access token of the provider, as a Bearer token.',
  security: [{ bearer: [] }],
  responses: {
    200: { description: 'The claims', content: { 'application/json': { schema: resource } } },
    '4XX': { $ref: '#/components/responses/OAuthError' },
  },
};

const authorize = {
  summary: 'Sign a person in to an application (OpenID Connect Core §3.1.2)',
  tag: 'openid' as const,
  description: 'For the browser of the person. Returns to the application with a code or an error.',
};
const signOut = {
  summary: 'Sign the person out (OpenID Connect RP-Initiated Logout)',
  tag: 'openid' as const,
  description: 'For the browser of the person.',
};

const providerPaths: Record<string, Json> = {
  '/oauth/authorize': {
    get: operation('authorize', { ...authorize, parameters: authorization, responses: redirects }),
    post: operation('authorizeByForm', {
      ...authorize,
      requestBody: formOf(authorization),
      responses: redirects,
    }),
  },
  '/oauth/userinfo': {
    get: operation('getUserinfo', userinfo),
    post: operation('postUserinfo', userinfo),
  },
  '/oauth/logout': {
    get: operation('logout', { ...signOut, parameters: logout, responses: redirects }),
    post: operation('logoutByForm', {
      ...signOut,
      requestBody: formOf(logout),
      responses: redirects,
    }),
  },
};

const forwarded = ['Proto', 'Host', 'Uri'].map((name) => {
  const description = 'Of the original request, set by the proxy';
  return { name: `X-Forwarded-${name}`, in: 'header', required: true, description, schema: text };
});
const identity = Object.fromEntries(
  ['User', 'Email', 'Name', 'Groups'].map((name) => [`X-Idctl-${name}`, { schema: text }]),
);

const forwardAuthPaths: Record<string, Json> = {
  '/auth/verify': {
    get: operation('verify', {
      summary: 'Decide for a proxy whether a request may reach its application',
      tag: 'forward auth',
      parameters: [...forwarded, inQuery('redirect', 'With `1`, 302 in place of 401')],
      responses: {
        200: { description: 'Let the request through', headers: identity },
        302: { description: 'Sign in at the address in Location' },
        401: { description: 'Sign in at the address in Location' },
        403: { description: 'Unknown host, or the person may not use the application' },
      },
    }),
  },
};
