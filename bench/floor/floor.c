/* The least that a client of streamed completions can cost.
 *
 * One thread opens all connections, sends one request on each, and then waits in
 * epoll and reads with recvmsg, keeping the kernel's receive stamp of every read. With
 * a rate it sends them one by one, each on a connection that is free, if there is one.
 * It parses nothing: an event is the text "data: ", and an answer ends with the
 * chunk of no bytes or with the connection. What a real client costs above this is
 * what it does with the bytes.
 *
 *   floor -p PORT [-a ADDRESS] [-n STREAMS] [-t TOKENS] [-r RATE] [-m MODEL] [-o FILE]
 *
 * prints one JSON object. CPU time is told twice: of the whole run, connections
 * included, and of the window in which all streams were flowing. FILE gets the
 * latencies by the stamps, in the form of a result of `vllm bench serve`.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char event_text[] = "data: ";
static const char last_chunk[] = "0\r\n\r\n";

enum {
	EVENT_LEN = sizeof event_text - 1,
	LAST_LEN = sizeof last_chunk - 1,
	READ_LEN = 64 << 10,
	READY_LEN = 512,
};

struct stream {
	int fd;
	int matched;         /* bytes of event_text at the end of the last read */
	char tail[LAST_LEN]; /* the last bytes read */
	int answered, started, ended;
	int tokens; /* events so far, those after the last token included */
	int64_t sent; /* CLOCK_REALTIME, as the stamps are */
};

/* A read that is kept: when its last byte came, and what it held. */
struct record {
	int64_t stamp; /* CLOCK_REALTIME in ns, 0 if the kernel gave none */
	int32_t stream;
	int32_t events;
};

struct meter {
	int64_t wall, cpu, events;
};

static struct {
	const char *address, *model, *latencies;
	int port, streams, tokens;
	double rate; /* requests a second, 0 = all at once */
} option = {.address = "127.0.0.1", .model = "truth", .streams = 1, .tokens = 128};

static struct stream *streams;
static int *owner; /* the stream of each descriptor */
static int *spare; /* connections that are free */
static int spares, sent, descriptors;
static char request[2048];
static int request_len;
static struct record *records;
static int64_t record_len, record_cap;
static int64_t events, bytes, merged;
static int started, ended, broken;
static struct meter run_start, window_start, window_end, run_end;

static void die(const char *doing)
{
	fprintf(stderr, "floor: %s: %s\n", doing, strerror(errno));
	exit(1);
}

static void die_usage(void)
{
	fprintf(stderr, "usage: floor -p PORT [-a ADDRESS] [-n STREAMS] [-t TOKENS] [-r RATE] [-m MODEL] [-o FILE]\n");
	exit(2);
}

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct meter read_meter(void)
{
	return (struct meter){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID), events};
}

static int number(const char *text, int max)
{
	char *end;
	long n = strtol(text, &end, 10);
	if (*end != '\0' || n < 1 || n > max)
		die_usage();
	return (int)n;
}

/* A rate; inf, as in a closed loop, is none. */
static double per_second(const char *text)
{
	char *end;
	double rate = strtod(text, &end);
	if (*end != '\0' || !(rate > 0))
		die_usage();
	return rate > 1e9 ? 0 : rate;
}

static void parse_options(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "a:p:n:t:r:m:o:")) != -1;)
		switch (c) {
		case 'a': option.address = optarg; break;
		case 'p': option.port = number(optarg, 65535); break;
		case 'n': option.streams = number(optarg, 1000000); break;
		case 't': option.tokens = number(optarg, 1000000); break;
		case 'r': option.rate = per_second(optarg); break;
		case 'm': option.model = optarg; break;
		case 'o': option.latencies = optarg; break;
		default: die_usage();
		}
	if (option.port == 0 || optind != argc)
		die_usage();
}

/* All memory is there, and touched, before the clocks start. */
static void prepare(void)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	streams = calloc(option.streams, sizeof *streams);
	record_cap = (int64_t)option.streams * (option.tokens + 16);
	records = malloc(record_cap * sizeof *records);
	descriptors = option.streams + 64;
	owner = calloc(descriptors, sizeof *owner);
	spare = calloc(descriptors, sizeof *spare);
	if (streams == NULL || records == NULL || owner == NULL || spare == NULL)
		die("allocate");
	memset(records, 1, record_cap * sizeof *records);
}

static int dial(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(option.port)};
	if (inet_pton(AF_INET, option.address, &to.sin_addr) != 1)
		die_usage();
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	if (fd < 0)
		die("open a socket");
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
		die("ask for receive stamps");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		die("connect");
	return fd;
}

/* Gives stream i a connection. */
static void connect_stream(int poll, int i)
{
	if (spares > 0) {
		streams[i].fd = spare[--spares];
	} else {
		int fd = streams[i].fd = dial();
		/* Edge-triggered, a read that does not fill its buffer needs no second
		 * one to see that nothing is left. */
		struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u32 = fd};
		if (fd >= descriptors || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) != 0)
			die("poll a connection");
	}
	owner[streams[i].fd] = i;
}

static void make_request(void)
{
	char body[1024];
	int n = snprintf(body, sizeof body,
		"{\"model\":\"%s\",\"prompt\":\"one two three four five six seven eight\",\"max_tokens\":%d,"
		"\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
		option.model, option.tokens);
	request_len = snprintf(request, sizeof request,
		"POST /v1/completions HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\n"
		"Content-Length: %d\r\n\r\n%s", option.address, option.port, n, body);
	if (request_len >= (int)sizeof request)
		die_usage();
}

static void send_request(int i)
{
	streams[i].sent = now(CLOCK_REALTIME);
	if (send(streams[i].fd, request, request_len, MSG_NOSIGNAL) != request_len)
		die("send a request");
}

static void send_all(int poll)
{
	for (int i = 0; i < option.streams; i++)
		connect_stream(poll, i);
	for (; sent < option.streams; sent++)
		send_request(sent);
}

/* Sends what is due, and returns how long there is until the next, NULL without one. */
static struct timespec *send_due(int poll)
{
	static struct timespec left;
	while (sent < option.streams) {
		int64_t due = run_start.wall + (int64_t)(sent / option.rate * 1e9);
		int64_t wait = due - now(CLOCK_MONOTONIC);
		if (wait > 0) {
			left = (struct timespec){wait / INT64_C(1000000000), wait % INT64_C(1000000000)};
			return &left;
		}
		connect_stream(poll, sent);
		send_request(sent++);
	}
	return NULL;
}

/* The number of events that begin in data, one that straddles reads included. */
static int count_events(struct stream *s, const char *data, int len)
{
	int n = 0;
	const char *end = data + len;
	for (; s->matched > 0 && data < end && *data == event_text[s->matched]; data++)
		if (++s->matched == EVENT_LEN) {
			n++;
			s->matched = 0;
		}
	if (data == end)
		return n;
	s->matched = 0;
	for (; (data = memmem(data, end - data, event_text, EVENT_LEN)) != NULL; data += EVENT_LEN)
		n++;
	for (int k = EVENT_LEN - 1; k > 0; k--)
		if (len >= k && memcmp(end - k, event_text, k) == 0) {
			s->matched = k;
			break;
		}
	return n;
}

/* Whether the answer is over after data: its last bytes are those of last_chunk. */
static int is_over(struct stream *s, const char *data, int len)
{
	if (len >= LAST_LEN) {
		memcpy(s->tail, data + len - LAST_LEN, LAST_LEN);
	} else {
		memmove(s->tail, s->tail + len, LAST_LEN - len);
		memcpy(s->tail + LAST_LEN - len, data, len);
	}
	return memcmp(s->tail, last_chunk, LAST_LEN) == 0;
}

static int64_t receive_stamp(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;
			memcpy(&t, CMSG_DATA(c), sizeof t);
			return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
		}
	return 0;
}

static void keep(int64_t stamp, int stream, int n)
{
	if (record_len == record_cap) {
		errno = ENOBUFS;
		die("keep a stamp: more reads than an answer of so many tokens should need");
	}
	records[record_len++] = (struct record){stamp, stream, n};
}

static void note_events(struct stream *s, int n)
{
	int tokens = n < option.tokens - s->tokens ? n : option.tokens - s->tokens;
	if (tokens > 1) /* the stamp is that of the last */
		merged += tokens - 1;
	s->tokens += n;
	events += n;
	if (n > 0 && !s->started) {
		s->started = 1;
		if (++started == option.streams)
			window_start = read_meter();
	}
}

static void end_stream(struct stream *s, int in_order)
{
	s->ended = 1;
	broken += !in_order;
	if (in_order && option.rate > 0)
		spare[spares++] = s->fd;
	if (ended++ == 0)
		window_end = read_meter();
}

/* A server that refuses makes no figures: the run ends with what it said. */
static void check_status(struct stream *s, const char *data, int len)
{
	static const char ok[] = "HTTP/1.1 200";
	if (s->answered)
		return;
	s->answered = 1;
	if (len >= (int)sizeof ok && memcmp(data, ok, sizeof ok - 1) == 0)
		return;
	fprintf(stderr, "floor: the server answered: %.*s\n", len < 500 ? len : 500, data);
	exit(1);
}

/* Reads what has come on a stream. */
static void drain(int i, int hung_up)
{
	static char data[READ_LEN];
	char control[64];
	struct stream *s = &streams[i];
	struct iovec part = {data, sizeof data};
	for (int n = READ_LEN; !s->ended && (n == READ_LEN || hung_up);) {
		struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
		n = (int)recvmsg(s->fd, &m, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			end_stream(s, 0);
			return;
		}
		if (!s->started)
			check_status(s, data, n);
		bytes += n;
		int found = count_events(s, data, n);
		keep(receive_stamp(&m), i, found);
		note_events(s, found);
		if (is_over(s, data, n))
			end_stream(s, 1);
	}
}

static void read_all(int poll)
{
	static struct epoll_event ready[READY_LEN];
	while (ended < option.streams) {
		struct timespec *left = option.rate > 0 ? send_due(poll) : NULL;
		int n = epoll_pwait2(poll, ready, READY_LEN, left, NULL);
		if (n < 0 && errno != EINTR)
			die("wait for answers");
		for (int k = 0; k < n; k++)
			drain(owner[ready[k].data.u32], ready[k].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
	}
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	if (x->stream != y->stream)
		return (x->stream > y->stream) - (x->stream < y->stream);
	return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

/* Puts the reads in the order of streams, and within each of time, and leaves out
 * those without tokens: a head alone, or what follows the last token. Stream i then
 * has those from first[i] up to first[i+1]. */
static void sort_records(int64_t *first)
{
	int64_t kept = 0, i = 0;
	qsort(records, record_len, sizeof *records, compare_records);
	for (int s = 0; s < option.streams; s++) {
		first[s] = kept;
		for (int seen = 0; i < record_len && records[i].stream == s; seen += records[i++].events)
			if (records[i].events > 0 && seen < option.tokens)
				records[kept++] = records[i];
	}
	first[option.streams] = kept;
}

/* Prints the time from each request to its first token, or to its last. */
static void print_latencies(FILE *f, const int64_t *first, int last)
{
	for (int s = 0; s < option.streams; s++) {
		int64_t at = last ? first[s + 1] - 1 : first[s];
		double latency = first[s] < first[s + 1] ? (records[at].stamp - streams[s].sent) / 1e9 : 0;
		fprintf(f, "%s%.9f", s > 0 ? "," : "", latency);
	}
}

static void print_gaps(FILE *f, const int64_t *first)
{
	for (int s = 0; s < option.streams; s++) {
		fprintf(f, "%s[", s > 0 ? "," : "");
		for (int64_t i = first[s] + 1; i < first[s + 1]; i++)
			fprintf(f, "%s%.9f", i > first[s] + 1 ? "," : "", (records[i].stamp - records[i - 1].stamp) / 1e9);
		fprintf(f, "]");
	}
}

static void write_latencies(void)
{
	FILE *f = fopen(option.latencies, "w");
	int64_t *first = calloc(option.streams + 1, sizeof *first);
	if (f == NULL || first == NULL)
		die(option.latencies);
	sort_records(first);
	fprintf(f, "{\"backend\":\"floor\",\"completed\":%d,\"failed\":%d,\"duration\":%.9f,"
		"\"total_input_tokens\":0,\"total_output_tokens\":%lld,\n\"ttfts\":[",
		option.streams - broken, broken, (run_end.wall - run_start.wall) / 1e9, (long long)option.streams * option.tokens);
	print_latencies(f, first, 0);
	fprintf(f, "],\n\"latencies\":[");
	print_latencies(f, first, 1);
	fprintf(f, "],\n\"itls\":[");
	print_gaps(f, first);
	fprintf(f, "],\n\"output_lens\":[");
	for (int s = 0; s < option.streams; s++)
		fprintf(f, "%s%d", s > 0 ? "," : "", option.tokens);
	fprintf(f, "]}\n");
	if (fclose(f) != 0)
		die(option.latencies);
	free(first);
}

static void print_span(const char *name, struct meter from, struct meter to)
{
	printf(",\n \"%s\":{\"events\":%lld,\"wall_ns\":%lld,\"cpu_ns\":%lld}", name, (long long)(to.events - from.events),
		(long long)(to.wall - from.wall), (long long)(to.cpu - from.cpu));
}

static void print_result(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	int64_t unstamped = 0;
	for (int64_t i = 0; i < record_len; i++)
		unstamped += records[i].stamp == 0;
	printf("{\"streams\":%d,\"tokens\":%lld,\"broken\":%d,\"events\":%lld,\"bytes\":%lld,\"reads\":%lld,\"merged\":%lld,\"unstamped\":%lld",
		option.streams, (long long)option.streams * option.tokens, broken, (long long)events, (long long)bytes,
		(long long)record_len, (long long)merged, (long long)unstamped);
	printf(",\n \"switches\":{\"voluntary\":%ld,\"involuntary\":%ld}", u.ru_nvcsw, u.ru_nivcsw);
	print_span("run", run_start, run_end);
	/* Without a moment in which all streams flowed, there is no window. */
	if (started == option.streams && window_start.wall < window_end.wall)
		print_span("window", window_start, window_end);
	printf("}\n");
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	prepare();
	make_request();
	int poll = epoll_create1(0);
	if (poll < 0)
		die("open epoll");
	run_start = read_meter();
	if (option.rate == 0)
		send_all(poll);
	read_all(poll);
	run_end = read_meter();
	print_result();
	if (option.latencies != NULL)
		write_latencies();
	return broken != 0;
}
