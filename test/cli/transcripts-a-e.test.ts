import { playTranscripts } from '../support/transcripts.ts';

playTranscripts(/^[a-e]/);
