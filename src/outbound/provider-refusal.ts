import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { Refusal } from '../errors.ts';
import type { Next } from '../next.ts';
import {
  checkedFields,
  type FailureReason,
  type ProviderReason,
  providerErrors,
  type SamlReason,
  type Stage,
} from '../reasons.ts';
import { causes } from './failure.ts';

// Maps a provider's faults to idctl's own codes. The provider's text never reaches a message
// (security S8). `cause` keeps the text for the log.

const names: Record<Stage, string> = {
  discovery: 'discovery document',
  authorization: 'authorization response',
  token: 'token response',
  id_token: 'ID token',
  userinfo: 'userinfo response',
  metadata: 'metadata',
  response: 'SAML response',
  assertion: 'SAML assertion',
};

/** The refusal for a provider that is unreachable, broken or not conformant. */
export function providerFailed(
  stage: Stage,
  reason: FailureReason,
  why: string,
  rest: Rest = {},
): Refusal {
  const failure = { stage, reason };
  const where = stage === 'metadata' ? 'metadata URL' : 'issuer';
  return new Refusal(
    'provider_failed',
    `The identity provider's ${names[stage]} could not be used: ${why}`,
    {
      hint: rest.hint ?? `Check the ${where} of the connection, and that the provider is running.`,
      failure,
      extra: failure,
      cause: rest.cause,
    },
  );
}

interface Rest {
  hint?: Next;
  cause?: unknown;
}

/** The refusal for a provider's response that must not be trusted. */
export function providerRefused(
  stage: Stage,
  reason: ProviderReason | SamlReason,
  cause: unknown,
  hint: Next | undefined = hints[reason],
): Refusal {
  const failure = { stage, reason };
  return new Refusal(
    'provider_refused',
    `The identity provider's ${names[stage]} was not accepted (${reason})`,
    { failure, extra: failure, cause, hint },
  );
}

const hints: Record<string, string> = {
  invalid_client: 'Check the client ID and the client secret of the connection.',
  unauthorized_client: 'Allow the authorization code grant for this client at the provider.',
  access_denied: 'The person or the provider declined. Find the reason at the provider.',
  invalid_grant:
    'Sign in again. If this recurs, compare the redirect URI with the one at the provider.',
};

/** The refusal for an error while reading the provider's response at this stage. */
export function providerRefusal(error: unknown, stage: Stage): Refusal {
  const refusal = causes(error).find((one) => one instanceof Refusal);
  if (refusal) return fromNetwork(refusal, stage, error);
  if (error instanceof AuthorizationResponseError) {
    return providerRefused('authorization', knownError(error.error), error);
  }
  if (error instanceof ResponseBodyError)
    return providerRefused(stage, knownError(error.error), error);
  if (error instanceof WWWAuthenticateChallengeError) {
    return providerRefused(stage, stage === 'token' ? 'invalid_client' : 'invalid_token', error);
  }
  const broken = error instanceof ClientError ? brokenness(error) : undefined;
  if (broken || stage === 'discovery') {
    const { reason, why } = broken ?? { reason: 'malformed', why: 'it is malformed' };
    return providerFailed(stage, reason, why, { cause: error });
  }
  return providerRefused(stageOf(error, stage), reasonOf(error), error);
}

function fromNetwork(refusal: Refusal, stage: Stage, error: unknown): Refusal {
  const { code, message, extra, hint } = refusal;
  const reason = refusal.failure?.reason;
  if (code !== 'upstream_failed') {
    return new Refusal(code, message, {
      failure: reason && { stage, reason },
      extra: { ...extra, stage },
      cause: error,
      hint,
    });
  }
  return providerFailed(stage, reason ?? 'unreachable', message, { cause: error });
}

function knownError(error: string): ProviderReason {
  return providerErrors.find((one) => one === error) ?? 'error_response';
}

function brokenness(error: ClientError): { reason: ProviderReason; why: string } | undefined {
  switch (error.code) {
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
      return { reason: 'unexpected_status', why: 'it came with an unexpected HTTP status' };
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
      return { reason: 'not_json', why: 'it is not JSON' };
    case 'OAUTH_MISSING_SERVER_METADATA':
    case 'OAUTH_INVALID_SERVER_METADATA':
      return {
        reason: 'endpoint_missing',
        why: 'the discovery document does not name its endpoint',
      };
    case 'OAUTH_PARSE_ERROR':
      return aboutToken(error) ? undefined : { reason: 'not_json', why: 'it is not JSON' };
    default:
      return undefined;
  }
}

// The library distinguishes these errors only by constant messages. Tests check the messages.
function reasonOf(error: unknown): ProviderReason {
  const message = said(error);
  if (/signature verification failed|no applicable keys|multiple applicable keys/.test(message)) {
    return 'signature_invalid';
  }
  const name = [...message.matchAll(/"(\w+)"/g)]
    .map((match) => match[1])
    .findLast((word) => word !== 'response');
  const field = checkedFields.find((one) => one === name);
  return field === undefined ? 'invalid_response' : `${field}_invalid`;
}

function stageOf(error: unknown, stage: Stage): Stage {
  if (stage !== 'token') return stage;
  if (/response parameter|parameter must be provided|callbackParameters/.test(said(error))) {
    return 'authorization';
  }
  return aboutToken(error) ? 'id_token' : stage;
}

function aboutToken(error: unknown): boolean {
  return /\bJW[TSE]\b|ID Token/.test(said(error));
}

// ClientError wraps another error, whose message names the failed check.
function said(error: unknown): string {
  const [outer, inner] = causes(error);
  return (outer instanceof ClientError ? inner : outer)?.message ?? '';
}
