import { answerQuestions } from '../../host/thread.ts';
import type { SamlQuestion } from './thread.ts';
import { verifyResponse } from './verify.ts';

// The thread that verifies responses.

answerQuestions(({ connection, response, expected }: SamlQuestion) =>
  verifyResponse(connection, response, expected),
);
