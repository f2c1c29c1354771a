// Returns every datagram to its source. Prints its port; ends with its standard input.
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  int room = 8 << 20;
#ifdef SO_RCVBUFFORCE
  setsockopt(udp, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
#endif
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  if (udp < 0 || bind(udp, (struct sockaddr *)&here, size) < 0) return 1;
  getsockname(udp, (struct sockaddr *)&here, &size);
  printf("%d\n", ntohs(here.sin_port));
  fflush(stdout);

  struct pollfd wait[2] = {{.fd = udp, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
  char packet[2048];
  for (;;) {
    poll(wait, 2, -1);
    if (wait[1].revents && read(0, packet, sizeof packet) <= 0) return 0;
    for (;;) {
      struct sockaddr_in from;
      size = sizeof from;
      ssize_t length = recvfrom(udp, packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
      if (length < 0) break;
      sendto(udp, packet, (size_t)length, 0, (struct sockaddr *)&from, size);
    }
  }
}
