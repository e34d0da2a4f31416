import { playTranscripts } from '../support/transcripts.ts';

playTranscripts(/^[p-z]/);
